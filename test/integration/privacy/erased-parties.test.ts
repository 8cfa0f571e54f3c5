import { beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { erase } from '../../support/erase.ts';
import { clientOfFile, worldOfFile } from '../../support/file-world.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { freshDays } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

/** The provider of `titleText`, whose number in the ERP is P-1. */
const TAX_ID = '52998224725';
const ACCOUNT = '7654321';

const world = worldOfFile();
const owner = clientOfFile(() => world.databaseUrl);
const blocker = clientOfFile(() => world.databaseUrl);

const nextDay = freshDays();
let date: CivilDate;
beforeEach(() => {
  date = nextDay();
});

const pull = (...texts: string[]) => world.serve(date, texts);

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
  titleText({ date, uid, taxId: '11144477735', code: 'P-9' }).replace(/}$/, `${more}}`);

const ERASED = { provider: 'erased-1', account: null, erased: true };

test('a running merge is waited for, and its rows are erased', async () => {
  // The last lock that a merge takes.
  await blocker.query(
    "BEGIN; SELECT FROM conciliation.program_lock WHERE name = 'closing' FOR UPDATE",
  );
  const pulling = pull(title('a'));
  await lockWaits(world.database);
  const erasing = erase(world.database, { taxId: TAX_ID });
  await Promise.race([lockWaits(world.database, 2), erasing.catch(() => undefined)]);
  await blocker.query('COMMIT');
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

test('a tax identifier without its leading zeros is that of the erased party', async () => {
  const short = (uid: string) => title(uid).replace(TAX_ID, '1234567890');
  await pull(short('a'));
  await erase(world.database, { taxId: '01234567890' });
  await pull(short('a'), short('b'));
  expect(await readTitles()).toMatchObject([
    { account: null, erased: true },
    { account: null, erased: true },
  ]);
});

test('an erasure asks about titles whose number may be the party, and finds every other writing', async () => {
  const BANK = '00000000000191';
  const withProvider = (uid: string, taxId: string) =>
    titleText({ date, uid, taxId, code: `P-${uid}` });
  await pull(
    withProvider('a', '00.000.000/0001-91'),
    withProvider('b', '0000000000191'),
    withProvider('c', '191'),
    withProvider('d', '00000000191'),
    withProvider('e', '00000000000272'),
  );
  const eraseBank = (undecided?: 'erase' | 'keep', taxId = BANK) =>
    erase(world.database, { taxId }, { undecided });
  const erased = async () =>
    (await readTitles()).map(({ erased: isErased }, place) => (isErased ? 'abcde'[place] : ''));
  const asked = await eraseBank().catch((error: unknown) => error);
  expect(String(asked)).toMatch(/titles have a number that is this tax identifier or/);
  expect(String(asked)).not.toContain('191');
  expect((await erased()).join('')).toBe('');
  const { counts } = await eraseBank('keep');
  expect([counts.titles, (await erased()).join('')]).toEqual([2, 'ab']);
  // Titles of the same writings that arrive later are treated alike.
  date = nextDay();
  await pull(withProvider('a', ' 000000000191'), withProvider('c', '0191'));
  expect((await erased()).join('')).toBe('a');
  await eraseBank('erase');
  expect((await erased()).join('')).toBe('ab');
  await expect(eraseBank(undefined, '52998224725')).resolves.toBeDefined();
});
