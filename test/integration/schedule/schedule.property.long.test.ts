import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InputError } from '../../../src/base/runtime/errors.ts';
import { addDays, toCivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import type { PullReport } from '../../../src/core/merge/merge.sql.ts';
import { decideAccountChanges } from '../../../src/features/accounts/account-changes.sql.ts';
import { liftErasure } from '../../../src/features/privacy/erase-party.sql.ts';
import {
  type DueRange,
  readGroupTotals,
  readSchedule,
} from '../../../src/features/schedule/schedule.sql.ts';
import { erase, findAlterations } from '../../support/days.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { assertProperty } from '../../support/random-runs.ts';
import { type TitleFields, titleText } from '../../support/titles.ts';

/** The schedule is the plain sum over `title` after any merges and erasures. */
const RUNS = 30;
/** The accepted dates of a history. */
const DATES = 2;
const FIRST_DUE = toCivilDate('2026-06-29');

const world = worldOfFile();
let firstDate = DAY;

const due = fc.option(
  fc.integer({ min: 0, max: 5 }).map((days) => addDays(FIRST_DUE, days)),
  { freq: 8 },
);
const oneOf = (...values: (string | null)[]) => fc.constantFrom(...values);
const titles = fc.array(
  fc.record({
    uid: fc.constantFrom<string>('a', 'b', 'c', 'd'),
    dueDate: due,
    value: fc.constantFrom('10', '10.00', '0.1', '12345678901234567.89', '-3.555'),
    discount: fc.constantFrom(null, '0.01', '7'),
    isBuyer: fc.constantFrom(true, false, null),
    agent: oneOf('11222333000181', '11444777000161', null),
    agentAccount: oneOf('1234567', '7654321', null),
    code: oneOf('P-1', 'P-2', null),
    account: oneOf('1111', '2222', null),
  }),
  { minLength: 1, maxLength: 12 },
);
const place = fc.integer({ min: 0, max: DATES - 1 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('pull' as const), place, titles }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('broken' as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('empty' as const), place }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('erase', 'lift', 'acknowledge') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const CHANGES = ['inserted', 'changed', 'withdrawn', 'restored'] as const;
const seen = {
  ...{ inserted: 0, changed: 0, withdrawn: 0, restored: 0 },
  ...{ erased: 0, onChangedAccounts: 0, waiting: 0, lines: 0, undated: 0 },
};

function count(report: PullReport): void {
  if (report.state !== 'merged') return;
  for (const change of CHANGES) seen[change] += report[change];
}

async function pull(place: number, texts: readonly string[], withdrawalLimitPercent: number) {
  const date = daysFrom(place, firstDate);
  count(await world.serve(date, texts, { withdrawalLimitPercent }));
}

async function take(action: Step): Promise<void> {
  const { database } = world;
  switch (action.kind) {
    case 'pull': {
      const date = daysFrom(action.place, firstDate);
      const texts = action.titles.map((fields) => scheduleTitle({ ...fields, date }));
      return pull(action.place, texts, 60);
    }
    case 'broken':
      return pull(action.place, ['{"order":{"uid":"x"},"originalValue":"not a number"}'], 60);
    case 'empty':
      return pull(action.place, [], 100);
    case 'erase': {
      // No title may name the party at this time.
      const erased = await erase(database, { taxId: '11444777000161' }).catch((error: unknown) => {
        if (!(error instanceof InputError)) throw error;
      });
      seen.erased += erased?.counts.titles ?? 0;
      return;
    }
    case 'lift': {
      // Afterwards a date without titles is loaded directly again.
      const party = await database.prisma.erasedParty.findFirst({ where: { endedAt: null } });
      if (party !== null) await liftErasure(database, party.id, { by: 'test', reason: 'a test' });
      return;
    }
    case 'acknowledge': {
      const change = await database.prisma.accountChange.findFirst({ where: { state: 'open' } });
      if (change === null) return;
      const decision = { by: 'test', state: 'confirmed', list: 'open', reason: 'called' } as const;
      return decideAccountChanges(database, [change.id], decision);
    }
    case 'release': {
      const held = await database.prisma.pull.findFirst({ where: { state: 'held' } });
      if (held === null) return;
      return count(await releasePull(world.parts, held.id, { by: 'test', reason: 'a test' }));
    }
  }
}

/** A title whose parties have no name or number where they have no other identifier. */
const scheduleTitle = (fields: TitleFields) =>
  titleText({
    ...fields,
    ...(fields.agent !== undefined && { name: fields.agent && `Agente ${fields.agent}` }),
    ...(fields.code === null && { taxId: null }),
  });

/** The sums by plain SQL over `title`, written without any part of the product. */
async function plainSums({ from, to }: DueRange) {
  const { prisma } = world;
  const [overall] = await prisma.$queryRaw<[Record<string, unknown>]>`
    SELECT count(*)::int AS titles, coalesce(sum(original_value), 0)::text AS original_value,
           count(*) FILTER (WHERE day.state IN ('held', 'attention'))::int AS waiting,
           coalesce(sum(original_value) FILTER (WHERE day.state IN ('held', 'attention')), 0)::text
             AS waiting_value
    FROM conciliation.title LEFT JOIN conciliation.day ON day.date = accepted_date
    WHERE status = 'current' AND anticipated_due_date >= ${from}::date
      AND anticipated_due_date <= ${to}::date`;
  const dates = await prisma.$queryRaw<Record<string, unknown>[]>`
    SELECT anticipated_due_date::text AS date, count(*)::int AS titles,
           sum(original_value)::text AS original_value
    FROM conciliation.title WHERE status = 'current' AND anticipated_due_date >= ${from}::date
      AND anticipated_due_date <= ${to}::date GROUP BY 1 ORDER BY 1`;
  const lines = await prisma.$queryRaw<Record<string, unknown>[]>`
    WITH paid AS (
      SELECT anticipated_due_date AS date, 'provider' AS kind, coalesce(provider_external_id, provider_identification) AS party,
             provider_bank AS bank, provider_account AS account, original_value, provider_agency AS agency,
             erased_at IS NOT NULL AS is_erased
      FROM conciliation.title
      WHERE status = 'current' AND buyer_is_financial IS TRUE
        AND anticipated_due_date BETWEEN ${from}::date AND ${to}::date
      UNION ALL
      SELECT anticipated_due_date, 'financial_agent', coalesce(financial_agent_identification, financial_agent_name),
             payment_bank, payment_account, original_value, payment_agency, erased_at IS NOT NULL
      FROM conciliation.title
      WHERE status = 'current' AND buyer_is_financial IS NOT TRUE
        AND anticipated_due_date BETWEEN ${from}::date AND ${to}::date
    ), named AS (
      SELECT date, CASE WHEN party IS NOT NULL OR bank IS NOT NULL THEN kind END AS kind, party, bank,
             account, original_value, is_erased AND party IS NOT NULL AND num_nonnulls(bank, agency, account) = 0 AS is_lost
      FROM paid
    )
    SELECT date::text AS date, kind, party, account, count(*)::int AS titles, sum(original_value)::text AS original_value,
           NOT is_lost AND EXISTS (SELECT FROM conciliation.account_change AS change
                   WHERE state IN ('open', 'refused') AND change.kind = named.kind
                     AND change.party_key = coalesce(named.party, '') AND change.after ->> 'account' IS NOT DISTINCT FROM named.account
                  ) AS changed
    FROM named GROUP BY named.date, kind, party, bank, account, is_lost`;
  const [undated] = await prisma.$queryRaw<[Record<string, unknown>]>`
    SELECT count(*)::int AS titles, coalesce(sum(original_value), 0)::text AS "originalValue"
    FROM conciliation.title WHERE status = 'current' AND anticipated_due_date IS NULL`;
  return { overall, dates, lines, undated };
}

async function compare(range: DueRange): Promise<void> {
  const { database } = world;
  const schedule = await readSchedule(database.prisma, range, { offset: 0, limit: 1_000 });
  const plain = await plainSums(range);
  const { value, waiting, undated, onChanged } = schedule.figures;
  expect({
    titles: value.titles,
    original_value: value.originalValue,
    waiting: waiting.titles,
    waiting_value: waiting.originalValue,
  }).toEqual(plain.overall);
  expect(
    schedule.dates.map(({ dueDate, titles, originalValue }) => ({
      date: dueDate,
      titles,
      original_value: originalValue,
    })),
  ).toEqual(plain.dates);
  const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(row)).sort();
  expect(
    sorted(
      schedule.lines.map(({ dueDate, payee, titles, originalValue }) => ({
        date: dueDate,
        kind: payee.kind,
        party:
          payee.kind === 'provider'
            ? (payee.externalId ?? payee.identification)
            : (payee.identification ?? payee.name),
        account: payee.account.account,
        titles,
        original_value: originalValue,
        changed: payee.isChanged,
      })),
    ),
  ).toEqual(sorted(plain.lines));
  expect(schedule.lineCount).toBe(schedule.lines.length);
  expect(undated).toEqual(plain.undated);
  for (const { dueDate, titleId, titles, originalValue } of schedule.lines.slice(0, 2)) {
    const group = { range: { from: dueDate, to: dueDate }, payeeOf: titleId };
    expect(await readGroupTotals(database.prisma, group)).toEqual({
      titles,
      originalValueSum: originalValue,
    });
  }
  seen.onChangedAccounts += onChanged.titles;
  seen.waiting += waiting.titles;
  seen.lines += schedule.lineCount;
  seen.undated += undated.titles;
}

async function playHistory(history: readonly Step[], start: number, length: number): Promise<void> {
  const from = addDays(FIRST_DUE, start);
  // The dates of one history are those of no other one.
  firstDate = daysFrom(DATES, firstDate);
  for (const action of history) {
    await take(action);
    await compare({ from, to: addDays(from, length) });
  }
  for (let place = 0; place < DATES; place += 1) {
    const date = daysFrom(place, firstDate);
    expect(await findAlterations(world.database, date)).toEqual([]);
  }
}

/** Of other parties than the random titles, whose accounts are all known after some histories. */
const TITLE = {
  uid: 'a',
  dueDate: FIRST_DUE,
  value: '10.00',
  discount: null,
  isBuyer: true,
  agent: '06990590000123',
  agentAccount: '1234567',
  code: 'P-9',
  account: '1111',
} as const;
/** Of the party that is erased. */
const OTHER = {
  ...TITLE,
  ...{ uid: 'b', dueDate: null, isBuyer: false, agent: '11444777000161', agentAccount: '9999999' },
} as const;
/** Histories in which every case occurs, whatever the random ones do. */
const CASES: Step[][] = [
  [
    { kind: 'pull', place: 0, titles: [TITLE, OTHER] },
    { kind: 'pull', place: 0, titles: [{ ...TITLE, discount: '7' }, OTHER] },
    { kind: 'pull', place: 1, titles: [{ ...TITLE, account: '2222' }] },
    { kind: 'acknowledge' },
  ],
  [
    { kind: 'pull', place: 0, titles: [TITLE] },
    { kind: 'empty', place: 0 },
    { kind: 'release' },
    { kind: 'pull', place: 0, titles: [TITLE] },
    { kind: 'broken', place: 0 },
  ],
  [{ kind: 'pull', place: 0, titles: [OTHER] }, { kind: 'erase' }, { kind: 'lift' }],
];

test('the schedule has the plain sums after each step of a history with every case', async () => {
  for (const history of CASES) await playHistory(history, 0, 3);
  for (const [name, times] of Object.entries(seen)) expect(times, name).toBeGreaterThan(0);
});

test('the schedule has the plain sums after each step of random histories', async () => {
  await assertProperty(
    RUNS,
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: -1, max: 6 }),
      fc.integer({ min: 0, max: 7 }),
      playHistory,
    ),
  );
}, 0);
