/**
 * Personal data stays in the staging schema. Every title here is made of canaries; whatever goes
 * wrong on its way, none of them may sing in a log, a message, an output or a table of the ledger.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/base/database/database.ts';
import { ConciliationError } from '../../../src/base/runtime/errors.ts';
import { createLogger, describeError } from '../../../src/base/runtime/logger.ts';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import type { PullParts } from '../../../src/core/work/run-pull.ts';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { acceptRejects } from '../../../src/features/review/sign-off.sql.ts';
import {
  canaryTitle,
  expectCleanLedger,
  expectNoLeak,
  leaksIn,
  toWholeText,
} from '../../support/canary.ts';
import { openPlatform } from '../../support/platform-client.ts';
import { clientOfFile, freshDays, worldOfFile } from '../../support/pull-world.ts';
import type { Fault } from '../../support/sandbox/faults.ts';

const world = worldOfFile();
const administrator = clientOfFile(() => world.databaseUrl);
let token: string;
let secrets: string[];
const logged: string[] = [];
/** As the world's, but every level of the log is kept. */
let parts: PullParts;
let database: Database;

const freshDay = freshDays();

beforeAll(async () => {
  token = world.sandbox.issueToken();
  // A token leaks with any of its parts, and its signature is the part that no other has.
  secrets = [token, token.split('.')[2] ?? token];
  const logger = createLogger({ logLevel: 'trace' }, { write: (line) => void logged.push(line) });
  const { databaseUrl } = world;
  database = openDatabase({ databaseUrl, applicationName: 'kanari', logger });
  const platform = openPlatform(world.sandbox.baseUrl, token);
  parts = { ...world.parts, database, platform, logger };
});
afterAll(async () => {
  await parts.platform.close();
  await database.close();
});
beforeEach(() => {
  logged.length = 0;
});

const titlesOn = (date: CivilDate, count = 3, discount = '1.00') =>
  Array.from({ length: count }, (_, index) => canaryTitle({ date, uid: `t${index}`, discount }));
const isHeardIn = (text: string) => leaksIn(text).length > 0;

/** One attempt, and all output of the attempt that a person or a program can see. */
async function attempt(date: CivilDate): Promise<string> {
  const pullId = await world.newPull(date);
  let seen: unknown;
  let result: string;
  try {
    const outcome = await world.run(pullId, parts);
    seen = outcome.kind === 'done' ? outcome.report : outcome.error;
    result = outcome.kind === 'done' ? outcome.report.state : outcome.error.code;
  } catch (error) {
    seen = error;
    result = 'thrown';
  }
  if (seen instanceof ConciliationError) {
    const { message, stack, context } = seen;
    // The causes are for a debugger; what the log makes of them is all that leaves the process.
    const whole = toWholeText({ message, stack, context, log: describeError(seen) });
    expectNoLeak('the error', whole, secrets);
  } else {
    expectNoLeak('the report or the defect', toWholeText(seen), secrets);
  }
  expect(logged.length).toBeGreaterThan(0);
  expectNoLeak('the log', logged.join(''), secrets);
  return result;
}

test('a canary is heard where it may sing: in titles, rejects and the errors of the driver', async () => {
  const date = freshDay();
  world.sandbox.setDayTexts(date, [...titlesOn(date), canaryTitle({ date, value: '"kanari"' })]);
  expect(await attempt(date)).toBe('merged');
  const { rows } = await administrator.query(`
    SELECT (SELECT string_agg(to_jsonb(title)::text, '') FROM conciliation.title) AS titles,
           (SELECT string_agg(raw, '') FROM conciliation.rejected_title) AS rejects`);
  expect(isHeardIn(rows[0].titles)).toBe(true);
  expect(isHeardIn(rows[0].rejects)).toBe(true);
  const refused = await administrator
    .query(`UPDATE conciliation.title SET status = 'unheard of'`)
    .catch((error: unknown) => error);
  expect(isHeardIn(toWholeText(refused))).toBe(true);
});

test('rejected titles name their fields and no value', async () => {
  const date = freshDay();
  const good = canaryTitle({ date, uid: 'bad' });
  world.sandbox.setDayTexts(date, [
    ...titlesOn(date),
    ...['1', '{"kanari":"kanari"}', '["kanari"]'].map((json) =>
      good.replace('"Kanari Singer"', json),
    ),
    good.replace('100.00', '"kanari 11144477735"'),
    good.replace('"uid":"bad"', '"uid":""'),
    good.replace('Kanari Singer', 'Kanari\\u0000'),
    good.replace('Kanari Singer', 'Kanari\\ud800'),
    good.replace(`"${date}"`, '"kanari"'),
    canaryTitle({ date, name: 'Kanari'.repeat(500) }),
    canaryTitle({ date, more: ',"buyerIdentification":"11144477735"' }),
    canaryTitle({ date, more: `,"nested":${'['.repeat(50)}"kanari"${']'.repeat(50)}` }),
    canaryTitle({ date, more: `,"long":"${'kanari'.repeat(300_000)}"` }),
    '"kanari"',
    '["kanari"]',
  ]);
  expect(await attempt(date)).toBe('merged');
  const { rows } = await administrator.query(`
    SELECT count(*)::int AS rejects FROM conciliation.rejected_title WHERE date = '${date}'`);
  expect(rows).toEqual([{ rejects: 14 }]);
  await expectCleanLedger(administrator, secrets);
});

test('unknown fields are recorded by name and type, without their values', async () => {
  const date = freshDay();
  world.sandbox.setDayTexts(date, [
    canaryTitle({ date, more: ',"mother":"kanari","phones":[{"number":"kanari"}]' }),
    canaryTitle({ date }).replace('"externalId":"kanari-provider"', '"externalId":"kanari-other"'),
  ]);
  expect(await attempt(date)).toBe('merged');
  const { rows } = await administrator.query(`
    SELECT path, value FROM conciliation.drift WHERE path LIKE '%mother' OR path LIKE '%externalId'`);
  expect(rows).toHaveLength(2);
  await expectCleanLedger(administrator, secrets);
});

describe('an answer that is not the documented one', () => {
  const singing = '{"message":"kanari 11144477735"}';
  const document = (date: CivilDate) => `{"titles":[${titlesOn(date).join(',')}]}`;
  test.each<[string, (date: CivilDate) => { body: string; contentType?: string }]>([
    ['an error object', () => ({ body: singing })],
    ['a strange content type', () => ({ body: singing, contentType: '"kanari 11144477735"' })],
    ['text after the document', (date) => ({ body: `${document(date)} kanari` })],
    [
      'a broken title',
      (date) => ({ body: document(date).replace('"kanari bank"', '"kanari bank" kanari') }),
    ],
    [
      'a raw control character',
      (date) => ({ body: document(date).replace('Singer', 'Si\u0007ger') }),
    ],
  ])('as %s', async (_, bodyOn) => {
    const date = freshDay();
    world.sandbox.faults.add({ kind: 'body', date, ...bodyOn(date) });
    expect(await attempt(date)).toBe('PLATFORM_CONTRACT');
    await expectCleanLedger(administrator, secrets);
  });

  const status = (code: number, headers: Record<string, string> = {}): Fault => ({
    kind: 'status',
    status: code,
    body: singing,
    headers: { 'x-kanari': 'kanari', ...headers },
  });
  test.each<[string, Fault, string]>([
    ['status 400', status(400), 'PLATFORM_REQUEST'],
    ['status 401', status(401, { 'www-authenticate': 'Bearer kanari' }), 'PLATFORM_AUTH'],
    [
      'a redirect',
      status(302, { location: 'https://kanari.example/?kanari' }),
      'PLATFORM_CONTRACT',
    ],
    ['a cut transfer', { kind: 'cut', afterBytes: 900, how: 'end' }, 'PLATFORM_UNAVAILABLE'],
  ])('as %s', async (_, fault, code) => {
    const date = freshDay();
    world.sandbox.setDayTexts(date, titlesOn(date));
    world.sandbox.faults.add({ ...fault, date });
    expect(await attempt(date)).toBe(code);
    await expectCleanLedger(administrator, secrets);
  });
});

describe('a database that refuses', () => {
  test.each([
    // PostgreSQL writes the line that COPY was at, with the values, into the context of the error.
    [
      'a staged row by a constraint',
      `ALTER TABLE conciliation.staged_title ADD CONSTRAINT refusal CHECK (financial_agent_name = '') NOT VALID`,
      'ALTER TABLE conciliation.staged_title DROP CONSTRAINT refusal',
    ],
    [
      'a title by a unique index',
      `CREATE UNIQUE INDEX refusal ON conciliation.title (accepted_date, financial_agent_name) WHERE accepted_date = '$DATE'`,
      'DROP INDEX conciliation.refusal',
    ],
    [
      'a title by a trigger that quotes it',
      `CREATE FUNCTION conciliation.refusal() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION E'no: %\\n    at %', NEW, NEW USING DETAIL = NEW::text, HINT = NEW::text; END $$;
       CREATE TRIGGER refusal BEFORE INSERT ON conciliation.title FOR EACH ROW EXECUTE FUNCTION conciliation.refusal()`,
      'DROP FUNCTION conciliation.refusal CASCADE',
    ],
    [
      'the whole table',
      'ALTER TABLE conciliation.title_revision RENAME TO refusal',
      'ALTER TABLE conciliation.refusal RENAME TO title_revision',
    ],
  ])('%s writes its content neither to the log nor to the ledger', async (name, refuse, permit) => {
    const date = freshDay();
    world.sandbox.setDayTexts(date, titlesOn(date, 3));
    if (name === 'the whole table') {
      await attempt(date);
      world.sandbox.setDayTexts(date, titlesOn(date, 3, '2.00'));
    }
    await administrator.query(refuse.replace('$DATE', date));
    try {
      expect(await attempt(date)).toBe('DEFECT');
    } finally {
      await administrator.query(permit);
    }
    expect(logged.some((line) => line.includes('pull attempt failed'))).toBe(true);
    await expectCleanLedger(administrator, secrets);
    expect(await attempt(date)).toBe('merged');
  });
});

test('holds, decisions and alerts name dates and pulls, never titles', async () => {
  const date = freshDay();
  world.sandbox.setDayTexts(date, titlesOn(date, 10));
  expect(await attempt(date)).toBe('merged');
  world.sandbox.setDayTexts(date, [
    ...titlesOn(date, 2),
    '{"order":{"uid":"other"},"kanari":"kanari"}',
  ]);
  expect(await attempt(date)).toBe('held');
  await alerts();

  const decision = { by: 'tester', reason: 'asked the platform' };
  const [held] = await world.prisma.pull.findMany({ where: { state: 'held' } });
  const report = await releasePull(world.parts, held?.id ?? 0n, decision);
  expectNoLeak('the release', toWholeText(report));
  expect(await acceptRejects(database, date, decision)).toBe(1);
  await alerts();
  expect(await world.prisma.auditEntry.count()).toBe(2);
  await expectCleanLedger(administrator, secrets);

  async function alerts() {
    const limits = { timeZone: 'America/Sao_Paulo' };
    await deriveAlerts(database, new Date(), limits);
    expect(await world.prisma.alert.count()).toBeGreaterThan(0);
    await expectCleanLedger(administrator, secrets);
  }
});
