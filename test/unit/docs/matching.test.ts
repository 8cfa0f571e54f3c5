/** docs/matching.md names each rule, each kind of break and each limit of the matching. */
import { expect, test } from 'vitest';
import {
  DEFAULT_RULES,
  OLD_DAYS,
  RULE_VERSION,
  RULES,
} from '../../../src/features/matching/candidates.sql.ts';
import { BREAK_KINDS } from '../../../src/features/matching/judgement.sql.ts';
import { SUM_CANDIDATES, SUM_ITEMS } from '../../../src/features/matching/sums.sql.ts';
import { readDocument, tableRowsOf } from './documents.ts';

const document = readDocument('docs/matching.md');
const codesOf = (heading: string) => {
  const section = document.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return tableRowsOf(section).map(([code = '']) => code.replaceAll('`', ''));
};

test('the tables have the rules and the kinds of breaks in their order', () => {
  expect(codesOf('Rules')).toEqual([...RULES, 'person']);
  expect(codesOf('Breaks')).toEqual([...BREAK_KINDS]);
});

test('the text has the limits of the rules', () => {
  expect(document).toContain(`current version of the rules is ${RULE_VERSION}.`);
  const { dueDays, valueTolerance } = DEFAULT_RULES;
  expect(document).toContain(`${dueDays} days and ${valueTolerance} count`);
  expect(document).toContain(`at least ${OLD_DAYS} days old`);
  expect(document).toContain(`one title and 2 to ${SUM_ITEMS} payables`);
  expect(document).toContain(`at most ${SUM_CANDIDATES} candidates`);
});
