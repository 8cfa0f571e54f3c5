/** The evidence file of a month: its content, and the results of its verifier in a separate folder. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordAudit } from '../../../src/base/audit/audit.ts';
import { verifyAuditChain } from '../../../src/base/audit/audit-chain.sql.ts';
import { addDays, type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { promoteField } from '../../../src/features/fields/promoted-fields.sql.ts';
import { EVIDENCE_COLUMNS } from '../../../src/features/review/months/evidence.sql.ts';
import { type CivilMonth, sealMonth } from '../../../src/features/review/months/month-seal.sql.ts';
import { makeKey, openConsole } from '../../support/console-client.ts';
import { erase, findAlterations, repairDay, signDay } from '../../support/days.ts';
import { forFile, forTest, openFolder } from '../../support/for-tests.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { outputOf, runProgram } from '../../support/program.ts';
import { worldOfFile } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { unzip } from '../../unit/export/file-readers.ts';

const MARCH = '2026-03' as CivilMonth;
const FIRST = toCivilDate('2026-03-29');
const [EMPTY, LAST] = [addDays(FIRST, 1), addDays(FIRST, 2)];

/** The agent of a title when it was signed, but not since. */
const FORMER_AGENT = '61616161000107';

const world = worldOfFile({ startDate: FIRST });
const console = forFile(() => openConsole(world.database));
const reviewer = forFile(() => console.as('reviewer', 'rita'));
let archive: Buffer;
let digest: string;
beforeAll(async () => {
  const field = { name: 'reference', path: 'undocumented', role: 'identifier' } as const;
  await promoteField(world.database, field, { by: 'adm', reason: 'agreed' });
  const title = (uid: string, value: string, more = {}) =>
    titleText({ uid, date: FIRST, value, ...more });
  await pull(
    FIRST,
    // Copies, a formula, separators, quotes, an end of a line for some programs, zeros, an exponent.
    title('a', '100.10'),
    title('a', '100.10'),
    title('=1+1', '1e2'),
    title('b;"c"', '0.050', { name: 'Érica\u2028d’Ávila; "Ltda"' }),
    // With a named field, and a field that names a destination.
    title('d', '12345678901234567890.12', { more: ',"undocumented":"x"' }).replace(
      '"accountDigit":"8"',
      '"accountDigit":"8","keyType":"EMAIL"',
    ),
    titleText({ uid: 'e', date: FIRST, value: '-3.00' }).replace('"0.5%"', '"0.17"'),
    title('f', '7').replaceAll('"billingFee":0,', ''),
  );
  await pull(EMPTY);
  await pull(
    LAST,
    titleText({ uid: 'x', date: LAST, value: '10.01' }),
    titleText({ uid: 'y', date: LAST, value: '10.01', agent: FORMER_AGENT }),
    titleText({ uid: 'z', date: LAST, value: '10.01' }),
  );
  for (const date of [FIRST, EMPTY, LAST])
    await signDay(world.database, date, { bookingsFrom: null });
  const by = { by: 'ana', reason: 'agrees', seenDigest: null };
  ({ digest } = await sealMonth(world.database, MARCH, by));
  archive = await download();
});

const pull = (date: CivilDate, ...texts: string[]) => world.serve(date, texts);

async function download() {
  const answer = await reviewer.post('/months/2026-03/evidence');
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/zip']);
  return answer.bytes;
}
/** The file for a reader of Portuguese. */
const downloadPortuguese = () =>
  reviewer.post('/months/2026-03/evidence', {}, { headers: { 'accept-language': 'pt-BR' } });

const unpacked = forTest(openFolder);

async function unpack(bytes = archive) {
  for (const [name, content] of unzip(bytes)) {
    await mkdir(dirname(join(unpacked.path, name)), { recursive: true });
    await writeFile(join(unpacked.path, name), content);
  }
}
const verify = (...args: string[]) =>
  runProgram(process.execPath, ['verify.mjs', ...args], {
    folder: unpacked.path,
    // Neither packages nor settings of this project.
    environment: { NODE_PATH: '', NODE_OPTIONS: '', LC_ALL: 'en_US.UTF-8' },
  });
const edit = async (name: string, change: (text: string) => string) => {
  const before = await readFile(join(unpacked.path, name), 'utf8');
  const after = change(before);
  expect(after).not.toBe(before);
  await writeFile(join(unpacked.path, name), after);
};
/** Makes SHA256SUMS right again, as a person would who wants to hide a change. */
async function listHashes() {
  const names = (await readdir(unpacked.path, { recursive: true })).filter(
    (name) => /\.\w+$/.test(name) && name !== 'SHA256SUMS',
  );
  const lines = await outputOf('sha256sum', names, { folder: unpacked.path });
  await writeFile(join(unpacked.path, 'SHA256SUMS'), `${lines}\n`);
}

describe('the file', () => {
  test('holds the seals, the titles of each day, the verifier and its own hashes', async () => {
    const files = unzip(archive);
    expect([...files.keys()]).toEqual([
      ...['README.md', 'LEIA-ME.md', 'verify.mjs', 'summary.html', 'month.json'],
      ...[FIRST, EMPTY, LAST].flatMap((date) => [`titles/${date}.jsonl`, `titles/${date}.csv`]),
      'SHA256SUMS',
    ]);
    const month = JSON.parse(String(files.get('month.json')));
    const totals = { title_count: '10', original_value_sum: '12345678901234568224.400' };
    expect(month).toMatchObject({
      madeBy: 'rita',
      seal: { month: MARCH, sealedBy: 'ana', reason: 'agrees', digest, totals },
      broken: [],
      days: [{ date: FIRST, title_count: '7' }, { date: EMPTY }, { date: LAST }],
    });
    const { fields } = await world.database.pool.query('SELECT * FROM conciliation.sign_off');
    const columns = fields.map(({ name }) => name);
    expect(Object.keys(month.days[0])).toEqual(expect.arrayContaining(columns));
    const lines = String(files.get(`titles/${FIRST}.jsonl`));
    expect(lines.split('\n')).toHaveLength(8);
    expect(lines).toContain('"original_value":"12345678901234567890.12"');
    expect(String(files.get(`titles/${FIRST}.csv`))).toContain("'=1+1;");
  });

  test('has a summary for people, in the language of the reader, and the audit of the month', async () => {
    await recordAudit(world.prisma, { actor: 'eva', action: 'export', date: LAST });
    await recordAudit(world.prisma, { actor: 'eva', action: 'settings.change' });
    const files = unzip((await downloadPortuguese()).bytes);
    const summary = String(files.get('summary.html'));
    expect(summary).toMatch(/^<!doctype html><html lang="pt-BR">/);
    for (const part of [
      ...['Fechado por ana', ': agrees', '12.345.678.901.234.568.224,40', digest, 'fechou um mês'],
      '<th scope="row">31/03/2026</th>',
      'Os registros começam em 29/03/2026.',
    ]) {
      expect(summary).toContain(part);
    }
    // The file is read without the server.
    expect(summary).not.toMatch(/href=|src=/);
    const entries: Record<'actor' | 'action' | 'date', string | null>[] = JSON.parse(
      String(files.get('month.json')),
    ).audit;
    const actions = entries.map(({ actor, action, date }) => `${actor} ${action} ${date}`);
    const expected = [`ana day.sign_off ${FIRST}`, 'ana month.seal null', `eva export ${LAST}`];
    expect(actions).toEqual(expect.arrayContaining(expected));
    expect(String(actions)).not.toContain('settings.change');
  });

  test('is an entry of the audit log, which its head of the chain covers', async () => {
    const month = JSON.parse(String(unzip(await download()).get('month.json')));
    const entry = await lastAudit(world, { action: 'month.evidence' });
    expect(entry).toMatchObject({ actor: 'rita', details: { month: MARCH, digest } });
    const where = { entryId: entry?.id ?? 0n };
    const link = await world.prisma.auditChain.findFirstOrThrow({ where });
    expect(month.auditHead).toEqual({ position: Number(link.position), hash: link.hash });
    expect((await verifyAuditChain(world.database, month.auditHead)).fault).toBeNull();
  });

  test('is for roles that may see identifiers, and only of a sealed month', async () => {
    const viewer = await console.as('viewer');
    expect((await viewer.post('/months/2026-03/evidence')).status).toBe(403);
    expect((await viewer.get('/months/2026-03')).text).toContain('cannot download it');
    expect((await reviewer.post('/months/2026-04/evidence')).status).toBe(400);
    const { headers } = await downloadPortuguese();
    expect(headers['content-disposition']).toBe('attachment; filename="evidencias-2026-03.zip"');
    const get = async (role: 'viewer' | 'reviewer', scope: 'export' | 'read') => {
      const key = await makeKey(world.database, role, [scope]);
      return console.call(key, '/api/months/2026-03/evidence');
    };
    expect((await get('viewer', 'export')).status).toBe(403);
    expect((await get('reviewer', 'read')).status).toBe(403);
    const answer = await get('reviewer', 'export');
    expect(answer.status).toBe(200);
    expect(unzip(answer.bytes).size).toBe(12);
  });
});

describe('the verifier', () => {
  test('agrees, in both languages, and so does sha256sum', async () => {
    await unpack();
    const { exit, stdout, stderr } = await verify();
    expect([exit, stderr]).toEqual([0, '']);
    expect(stdout).toContain('✓ 11 files have the hashes of SHA256SUMS');
    expect(stdout).toContain('✓ 2026-03-29: 7 titles, original value 12345678901234568194.37');
    expect(stdout).toContain('✓ 2026-03-30: 0 titles, original value 0, digest agrees');
    expect(stdout).toContain(`Digest of the month: ${digest}`);
    expect(stdout).toContain('Everything agrees.');
    expect((await verify('pt')).stdout).toContain('Tudo confere.');
    await outputOf('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], { folder: unpacked.path });
  });

  const jsonl = `titles/${FIRST}.jsonl`;
  const lastJsonl = `titles/${LAST}.jsonl`;
  const lastCsv = `titles/${LAST}.csv`;
  type Change = (text: string) => string;
  const to =
    (pattern: string | RegExp, value: string): Change =>
    (text) =>
      text.replace(pattern, value);
  const otherDigit = (found: string) => `${found.slice(0, -1)}${found.endsWith('f') ? '0' : 'f'}`;
  const swap = (one: string, other: string) => (text: string) =>
    text.replaceAll(one, '@').replaceAll(other, one).replaceAll('@', other);
  const swapColumns = swap('"provider_account"', '"payment_account"');
  const PLACE = EVIDENCE_COLUMNS.findIndex(({ name }) => name === 'payment_account');
  const month =
    (change: (month: { days: object[]; columns: string[] }) => object): Change =>
    (text) => {
      const stated = JSON.parse(text);
      return JSON.stringify({ ...stated, ...change(stated) });
    };
  test.each<[string, Record<string, Change>, ...(string | RegExp)[]]>([
    [
      'one altered digit of an amount',
      { [jsonl]: to('"100.10"', '"100.11"') },
      /✗ 2026-03-29: the content of a \(id \d+\) does not have its recorded hash/,
      /original_value_sum: sealed/,
    ],
    [
      'an altered named field',
      { [jsonl]: to('reference=x', 'reference=y') },
      /the content of d \(id \d+\) does not have its recorded hash/,
    ],
    [
      'an altered digit with a hash that fits it',
      { [jsonl]: to(/"content_hash":"./, '"content_hash":"f') },
      'does not have its recorded hash',
    ],
    [
      'one removed title',
      { [lastJsonl]: to(/^.*\n/, '') },
      'title_count: sealed 3, recomputed 2',
      'content_digest',
      'original_value_sum: sealed 30.03, recomputed 20.02',
    ],
    [
      'an altered digit in the CSV file',
      { [lastCsv]: to('10,01', '10,02') },
      '✗ 2026-03-31: the CSV file does not have the titles',
    ],
    [
      'another person in the seal of a day',
      { 'month.json': to('"signed_off_by": "ana"', '"signed_off_by": "eva"') },
      /✗ 2026-03: digest: sealed [0-9a-f]{64}, recomputed/,
    ],
    [
      'another digest of the month',
      { 'month.json': (text) => text.replace(/"digest": "./, otherDigit) },
      '✗ 2026-03: digest',
    ],
    [
      'a day that is left out',
      { 'month.json': month(({ days }) => ({ days: days.slice(1) })) },
      '✗ 2026-03: digest',
      'the seal of the month and the seals of the days differ in number',
    ],
    [
      'columns that changed places, in the list and in the titles',
      {
        // The CSV files keep their columns.
        'month.json': month(({ days }) => ({
          days: JSON.parse(swapColumns(JSON.stringify(days))),
        })),
        [lastJsonl]: swapColumns,
        [lastCsv]: swap('7654321', '1234567'),
      },
      `✗ ${LAST}: content_columns are not those of a content hash`,
    ],
    [
      'a further field in a title',
      { [lastJsonl]: to('{', '{"approved_value":"99.00",') },
      `✗ ${LAST}: x (id`,
    ],
    ['a field of a title twice', { [lastJsonl]: to('{', '{"id":99,') }, `✗ ${LAST}: x (id`],
    [
      'a column that is left out of the list and of the CSV files',
      {
        'month.json': month(({ columns }) => ({ columns: columns.toSpliced(PLACE, 1) })),
        [lastCsv]: (text) =>
          text
            .split('\r\n')
            .map((row) => row.split(';').toSpliced(PLACE, 1).join(';'))
            .join('\r\n'),
      },
      '✗ the columns of the titles are not those of the program',
    ],
    [
      'a changed title that is said to name an erased party',
      {
        [lastJsonl]: (text) =>
          text.replace('2026-06-30', '2026-06-29').replace('"is_erased":false', '"is_erased":true'),
        [lastCsv]: (text) =>
          text.replace('30/06/2026', '29/06/2026').replace(/false\r\n/, 'true\r\n'),
      },
      `✗ ${LAST}: the content of x (id`,
    ],
  ])('finds %s, although SHA256SUMS was recomputed', async (_, edits, ...found) => {
    await unpack();
    for (const [name, change] of Object.entries(edits)) await edit(name, change);
    await listHashes();
    const { exit, stdout, stderr } = await verify();
    expect([exit, stderr]).toEqual([1, '']);
    expect(stdout).not.toContain('SHA256SUMS)');
    for (const line of found) expect(stdout).toMatch(line);
    expect(stdout).toMatch(/\n\d+ differences?\.\n$/);
    // The file that was changed with others agrees with them.
    if (lastCsv in edits && Object.keys(edits).length > 1)
      expect(stdout).not.toContain(`${LAST}: the CSV`);
  });

  test('finds a changed file, a missing one, one more, and one that is none', async () => {
    await unpack();
    await edit(jsonl, to('"100.10"', '"100.11"'));
    await rm(join(unpacked.path, `titles/${LAST}.csv`));
    await writeFile(join(unpacked.path, 'titles/2026-03-28.csv'), 'x');
    const { exit, stdout } = await verify();
    expect(exit).toBe(1);
    expect(stdout).toContain(`✗ ${jsonl}: the file was changed after it was made`);
    expect(stdout).toContain('✗ titles/2026-03-31.csv: the file is missing');
    expect(stdout).toContain('✗ titles/2026-03-28.csv: the file is not listed');
    await writeFile(join(unpacked.path, 'month.json'), '{');
    const unreadable = { exit: 1, stdout: expect.stringContaining('the files cannot be read') };
    expect(await verify()).toMatchObject(unreadable);
  });
});

describe('a change after the seal', () => {
  test.each([
    "original_value = 99.99, payment_account = '666'",
    "status = 'withdrawn'",
    'original_value = 77, content_hash = gen_random_uuid()',
  ])('outside of the program, which a pull has repaired, is not in the file: %s', async (set) => {
    const { pool } = world.database;
    // The next repair is not requested soon after one.
    await pool.query(`
      UPDATE conciliation.pull SET finished_at = now() - interval '2 hours' WHERE origin = 'repair'`);
    await pool.query(`
      UPDATE conciliation.title SET ${set} WHERE accepted_date = '${FIRST}' AND order_uid = 'd'`);
    expect((await repairDay(world, FIRST)).alterations).not.toEqual([]);
    expect(await findAlterations(world.database, FIRST)).toEqual([]);
    const files = unzip(await download());
    expect(files.get(`titles/${FIRST}.jsonl`)).toEqual(unzip(archive).get(`titles/${FIRST}.jsonl`));
    expect(JSON.parse(String(files.get('month.json')))).toMatchObject({ broken: [] });
  });

  test('does not change the titles of the file, and the verifier still agrees', async () => {
    const before = unzip(archive);
    // One restated, one withdrawn, one new.
    const held = await world.serve(LAST, [
      titleText({ uid: 'x', date: LAST, value: '10.01', discount: '9.99' }),
      titleText({ uid: 'y', date: LAST, value: '10.01' }),
      titleText({ uid: 'new', date: LAST, value: '5.00' }),
    ]);
    await releasePull(world.parts, held.pullId, { by: 'test', reason: 'x' });
    const bytes = await download();
    const after = unzip(bytes);
    for (const name of before.keys()) {
      if (name.startsWith('titles/')) expect(after.get(name), name).toEqual(before.get(name));
    }
    await unpack(bytes);
    const { exit, stdout } = await verify();
    expect(exit).toBe(0);
    const told = '! When the file was made, the seal no longer held because of 2026-03-31.';
    expect(stdout).toContain(told);
    const page = await reviewer.get('/months/2026-03');
    expect(page.text).toContain('although the seal is no longer valid');
  });

  test('an erased party that only the signed titles name: so do they', async () => {
    const where = { financialAgentIdentification: FORMER_AGENT };
    expect(await world.prisma.title.count({ where })).toBe(0);
    await erase(world.database, { taxId: FORMER_AGENT });
    const bytes = await download();
    expect(bytes.includes(FORMER_AGENT)).toBe(false);
    await unpack(bytes);
    const { exit, stdout } = await verify();
    expect(stdout).toContain(`! ${LAST}: 1 titles name a party whose personal data was erased.`);
    expect(exit).toBe(0);
  });

  test('an erased party: the recorded hashes still give the digest', async () => {
    await erase(world.database, { externalId: 'P-1' });
    const bytes = await download();
    expect(bytes.includes('52998224725')).toBe(false);
    await unpack(bytes);
    const { exit, stdout } = await verify();
    expect(stdout).toContain('! 2026-03-29: 7 titles name a party whose personal data was erased.');
    expect(stdout).toMatch(
      /\nEverything that can be recomputed agrees\. The content of 10 titles cannot be\.\n$/,
    );
    expect(exit).toBe(0);
    await edit(`titles/${FIRST}.jsonl`, (text) => text.replace('"100.10"', '"100.11"'));
    await listHashes();
    expect((await verify()).stdout).toContain('✗ 2026-03-29: original_value_sum');
  });
});
