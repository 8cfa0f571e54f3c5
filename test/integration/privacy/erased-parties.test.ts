import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { eraseParty } from '../../../src/features/privacy/erase-party.sql.ts';
import { clientOfFile, worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

/** The provider of `titleText`, whose number in the ERP is P-1. */
const TAX_ID = '52998224725';
const ACCOUNT = '7654321';

const world = worldOfFile();
const owner = clientOfFile(() => world.databaseUrl);

let date: CivilDate;
let dayCount = 0;
beforeEach(() => {
  dayCount += 1;
  date = daysFrom(dayCount, DAY);
});

const erase = () =>
  eraseParty(world.database, {
    party: { taxId: TAX_ID, externalId: null },
    by: 'test',
    reason: 'a test',
    isDryRun: false,
  });

async function pull(...texts: string[]) {
  world.sandbox.setDayTexts(date, texts);
  return world.pull(date);
}

const title = (uid: string, discount = '1') => titleText({ date, uid, discount });

async function readTitles() {
  const { rows } = await owner.query(
    `SELECT provider_identification AS provider, provider_account AS account,
            erased_at IS NOT NULL AS erased
     FROM conciliation.title WHERE accepted_date = $1 ORDER BY order_uid, id`,
    [date],
  );
  return rows;
}

/** A title of other parties, with undocumented fields. */
const ofOthers = (uid: string, more: string) =>
  titleText({ date, uid })
    .replaceAll(TAX_ID, '11144477735')
    .replaceAll('"P-1"', '"P-9"')
    .replace(/}$/, `${more}}`);

/** Waits until `count` sessions wait for a lock. */
async function waiting(count: number): Promise<void> {
  for (;;) {
    const { rows } = await owner.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (rows.length >= count) return;
    await sleep(10);
  }
}

const ERASED = { provider: 'erased-1', account: null, erased: true };

test('a running merge is waited for, and its rows are erased', async () => {
  const blocker = new Client({ connectionString: world.databaseUrl });
  await blocker.connect();
  // The last lock that a merge takes.
  await blocker.query(
    "BEGIN; SELECT FROM conciliation.program_lock WHERE name = 'closing' FOR UPDATE",
  );
  const pulling = pull(title('a'));
  await waiting(1);
  const erasing = erase();
  await Promise.race([waiting(2), erasing.catch(() => undefined)]);
  await blocker.query('COMMIT');
  await blocker.end();
  await pulling;
  expect((await erasing).counts).toMatchObject({ titles: 1, partyAccounts: 1 });
  const { rows } = await owner.query('SELECT max(id)::int AS id FROM conciliation.erased_party');
  expect(await readTitles()).toEqual([{ ...ERASED, provider: `erased-${rows[0].id}` }]);
});

test('a date of its own is written without the party, and the account is not remembered', async () => {
  await pull(title('a'), title('b'));
  expect((await readTitles()).map(({ account, erased }) => [account, erased])).toEqual([
    [null, true],
    [null, true],
  ]);
  const { rows } = await owner.query('SELECT FROM conciliation.party_account WHERE account = $1', [
    ACCOUNT,
  ]);
  expect(rows).toHaveLength(0);
});

test('undocumented fields of other parties are not stored if they name the party', async () => {
  await pull(
    ofOthers('a', ',"guarantor":{"cpf":"529.982.247-25"}'),
    ofOthers('b', `,"note":{"cpf":"${TAX_ID}","text":"\\u0000"}`),
    ofOthers('c', `,"cpf\\u0000":{"text":"a \\"quoted\\" text","cpf":"529.982.247-25"}`),
    ofOthers('d', `,"ids":[${TAX_ID}]`),
    ofOthers('e', `,"ids":[${TAX_ID},1e999]`),
    ofOthers('f', `,"note":"cpf\\n${TAX_ID}\\u0000"`),
    ofOthers('g', ',"note":"another","installments":1,"at":"2026-03-02T10:11:12.131Z"'),
  );
  const { rows } = await owner.query(
    `SELECT order_uid, provider_external_id AS provider, extra, erased_at IS NOT NULL AS erased
     FROM conciliation.title WHERE accepted_date = $1 ORDER BY order_uid`,
    [date],
  );
  const written = { provider: 'P-9', erased: false };
  expect(rows).toEqual([
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((uid) => ({ ...written, order_uid: uid, extra: null })),
    {
      ...written,
      order_uid: 'g',
      extra: { note: 'another', installments: 1, at: '2026-03-02T10:11:12.131Z' },
    },
  ]);
});

test('values outside of the interface are not stored if they name the party', async () => {
  await pull(ofOthers('a', '').replace('"INDIVIDUAL"', `"CPF 529.982.247-25/1"`));
  const { rows } = await owner.query(
    `SELECT value FROM conciliation.drift WHERE path = 'titles[].financialAgent.type'`,
  );
  expect(rows).toEqual([{ value: expect.stringMatching(/^erased-\d+$/) }]);
});

test('restated and new titles are written without the party, and their revisions too', async () => {
  await pull(title('a'), title('b'));
  const report = await pull(title('a', '2'), title('b'), title('c'));
  expect(report).toMatchObject({ changed: 1, inserted: 1, unchanged: 1 });
  expect((await readTitles()).every(({ erased }) => erased)).toBe(true);
  const { rows } = await owner.query(
    'SELECT before, after FROM conciliation.title_revision WHERE pull_id = $1',
    [report.pullId],
  );
  expect(rows).toEqual([
    {
      before: { platform_discounted_value: 1 },
      after: { platform_discounted_value: 2 },
    },
  ]);
});

test('a title that goes to another party is that party’s again', async () => {
  await pull(title('a'));
  await pull(title('a').replace(TAX_ID, '11144477735').replace(ACCOUNT, '999'));
  expect(await readTitles()).toEqual([{ provider: '11144477735', account: '999', erased: false }]);
});

test('rejected titles are kept without their text', async () => {
  await pull(
    title('a'),
    `{"acceptedDate":"${date}","provider":{"identification":"529.982.247-25"}}`,
  );
  const { rows } = await owner.query(
    'SELECT raw FROM conciliation.rejected_title WHERE date = $1',
    [date],
  );
  expect(rows).toEqual([{ raw: '' }]);
});

test('revisions stay append-only', async () => {
  await expect(
    owner.query(`UPDATE conciliation.title_revision SET kind = 'changed'`),
  ).rejects.toThrow('append-only');
});

test('a tax identifier without its leading zeros is that of the erased party', async () => {
  const short = (uid: string) => title(uid).replace(TAX_ID, '1234567890');
  await pull(short('a'));
  await eraseParty(world.database, {
    party: { taxId: '01234567890', externalId: null },
    by: 'test',
    reason: 'a test',
    isDryRun: false,
  });
  await pull(short('a'), short('b'));
  expect(await readTitles()).toMatchObject([
    { account: null, erased: true },
    { account: null, erased: true },
  ]);
});

test('an erasure asks about titles whose number may be the party, and finds every other writing', async () => {
  const BANK = '00000000000191';
  const withProvider = (uid: string, number: string) =>
    title(uid).replaceAll(TAX_ID, number).replaceAll('P-1', `P-${uid}`);
  await pull(
    withProvider('a', '00.000.000/0001-91'),
    withProvider('b', '0000000000191'),
    withProvider('c', '191'),
    withProvider('d', '00000000191'),
    withProvider('e', '00000000000272'),
  );
  const eraseBank = (undecided?: 'erase' | 'keep', taxId = BANK) =>
    eraseParty(world.database, {
      party: { taxId, externalId: null },
      ...{ by: 'test', reason: 'a test', isDryRun: false },
      undecided,
    });
  const erased = async () =>
    (await readTitles()).map(({ erased: isErased }, place) => (isErased ? 'abcde'[place] : ''));
  const asked = await eraseBank().catch((error: unknown) => error);
  expect(String(asked)).toMatch(/titles have a number that is this tax identifier or/);
  expect(String(asked)).not.toContain('191');
  expect((await erased()).join('')).toBe('');
  const { counts } = await eraseBank('keep');
  expect([counts.titles, (await erased()).join('')]).toEqual([2, 'ab']);
  // Titles of the same writings that arrive later are treated alike.
  date = daysFrom(dayCount + 100, DAY);
  await pull(withProvider('a', ' 000000000191'), withProvider('c', '0191'));
  expect((await erased()).join('')).toBe('a');
  await eraseBank('erase');
  expect((await erased()).join('')).toBe('ab');
  await expect(eraseBank(undefined, '52998224725')).resolves.toBeDefined();
});
