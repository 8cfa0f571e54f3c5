/** The two paths of a response number titles of equal identity together. */
import { expect, test } from 'vitest';
import { NamedAccounts } from '../../../src/domain/accounts/named-accounts.ts';
import { toCivilDate } from '../../../src/domain/business-day.ts';
import { KnownTitles } from '../../../src/domain/known-titles.ts';
import { Occurrences } from '../../../src/domain/occurrences.ts';
import { dayWindow } from '../../../src/domain/plan/pull-plan.ts';
import { ResponseReader } from '../../../src/reader/response-reader.ts';
import { splitRows, valueIn } from '../../support/copy-rows.ts';
import { titleText } from '../../support/titles.ts';
import { documentOf } from './read-both-ways.ts';

const DAY = toCivilDate('2026-03-02');
const usual = titleText({ date: DAY, uid: 'order' });
/** The undocumented field leads to the ordinary path. The identity is the same. */
const unusual = usual.replace(/^\{/, '{"note":"new",');

test.each([
  ['before, between and after', [unusual, usual, usual, unusual, usual, unusual]],
  ['twice on the short path, then on the ordinary one', [usual, usual, unusual, unusual]],
  ['twice on the ordinary path, then on the short one', [unusual, unusual, usual, usual]],
])('equal titles %s are numbered from 1', async (_, texts) => {
  async function* chunks() {
    yield documentOf(texts);
  }
  const target = {
    table: 'title' as const,
    pullId: 7n,
    occurrences: new Occurrences(),
    accounts: new NamedAccounts(),
  };
  const reader = new ResponseReader(
    { httpStatus: 200, chunks: chunks(), bytesReceived: () => 1 },
    { target, window: dayWindow(DAY), known: new KnownTitles(0) },
  );
  const numbers: (number | undefined)[] = [];
  for await (const { rows } of reader.read()) {
    for (const row of splitRows(Buffer.concat(rows))) {
      numbers.push(valueIn('title', row, 'occurrence')?.readInt32BE());
    }
  }
  expect(numbers.sort()).toEqual(texts.map((_text, index) => index + 1));
});
