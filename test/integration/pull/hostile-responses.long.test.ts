import { beforeAll, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { pullToEnd } from '../../../src/cli/pulls.ts';
import {
  BEFORE,
  type ExpectedTitle,
  GONE,
  HOSTILE_RESPONSES,
  type HostileResponse,
  toTexts,
} from '../../support/hostile-responses.ts';
import { DAY, daysFrom, freshDays, worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
const freshDay = freshDays(daysFrom(-2000, DAY));

/** Current titles, every column as JSON has it and the discount as it is written. */
async function readTitles(date: CivilDate): Promise<ExpectedTitle[]> {
  const rows = await world.prisma.$queryRaw<{ title: ExpectedTitle; discount: string }[]>`
    SELECT to_jsonb(title) AS title, platform_discounted_value::text AS discount
    FROM conciliation.title title WHERE accepted_date = ${date}::date AND status = 'current'
    ORDER BY order_uid COLLATE "C"`;
  return rows.map(({ title, discount }) => ({ ...title, discount }));
}

const readDay = (date: CivilDate) =>
  world.prisma.day.findUniqueOrThrow({
    where: { date },
    select: {
      ...{ state: true, titleCount: true, rejectedCount: true, contentDigest: true },
      ...{ lastPullId: true, verifiedAt: true },
    },
  });

async function readRejects(lastPullId: bigint) {
  const { prisma } = world;
  const orderBy = { ordinal: 'asc' } as const;
  const rows = await prisma.rejectedTitle.findMany({ where: { lastPullId }, orderBy });
  return rows.map(({ reasons }) => reasons.join('\n'));
}

async function countStaged() {
  const [row] = await world.prisma.$queryRaw<object[]>`
    SELECT (SELECT count(*) FROM conciliation.staged_title)::int AS titles,
           (SELECT count(*) FROM conciliation.staged_reject)::int AS rejects,
           (SELECT count(*) FROM conciliation.staged_change)::int
             + (SELECT count(*) FROM conciliation.staged_base)::int
             + (SELECT count(*) FROM conciliation.staged_missing)::int AS changes`;
  return row;
}

const NOTHING_STAGED = { titles: 0, rejects: 0, changes: 0 };
const ANY_LOSS = { withdrawalLimitPercent: 100 };

function requestsFor(date: CivilDate): number {
  return world.sandbox.requests.filter(({ query }) => query['conciliationDate'] === date).length;
}

/** A date that holds `BEFORE`, pulled without a fault. */
async function openDay(): Promise<CivilDate> {
  const date = freshDay();
  await world.serve(date, toTexts(BEFORE, date));
  return date;
}

/** After any failure, the platform works again and the next pull updates the day. */
async function expectRecovery(date: CivilDate) {
  const titles = [...BEFORE, { order_uid: 'old-4', discount: '4.00' }];
  const report = await world.serve(date, toTexts(titles, date), ANY_LOSS);
  expect(report).toMatchObject({ date, titles: 4, rejected: 0 });
  expect(await readTitles(date)).toMatchObject(titles);
  expect(await readDay(date)).toMatchObject({ state: 'reconciled', titleCount: 4 });
}

/** One attempt, which asks once and leaves nothing staged. */
async function attemptOnce(date: CivilDate, body: HostileResponse['body']) {
  const requestsBefore = requestsFor(date);
  world.sandbox.faults.add({ kind: 'body', body: body(date), date });
  const outcome = await world.attempt(date, ANY_LOSS);
  expect(await countStaged()).toEqual(NOTHING_STAGED);
  expect(requestsFor(date) - requestsBefore).toBe(1);
  return outcome;
}

test.each(HOSTILE_RESPONSES)('$name', async (expected) => {
  const date = await openDay();
  const outcome = await attemptOnce(date, expected.body);
  const rejects = await readRejects(outcome.pullId);
  expect(rejects).toHaveLength(expected.rejects.length);
  const current = await readTitles(date);
  expect(current).toHaveLength(expected.titles.length);
  expect(current).toMatchObject(expected.titles);
  const withheld = expected.titles.includes(GONE) ? 1 : 0;
  expect(outcome).toMatchObject({ kind: 'done', report: { state: 'merged', withheld } });
  expected.rejects.forEach((reason, index) => {
    expect(rejects[index]).toMatch(reason);
  });
  expect(await readDay(date)).toMatchObject({
    state: rejects.length > 0 ? 'attention' : 'reconciled',
    titleCount: current.length,
    rejectedCount: rejects.length,
    lastPullId: outcome.pullId,
  });
  const drift = (await world.prisma.drift.findMany()).map(
    ({ path, kind, value }) => `${path} ${kind} ${value}`,
  );
  for (const item of expected.drift) {
    expect(drift.filter((seen) => seen === item)).toEqual([item]);
  }
});

describe('a response that is refused leaves the day as it was', () => {
  let date: CivilDate;
  beforeAll(async () => {
    date = await openDay();
  });

  test.each([
    ['an empty body', '', 'PLATFORM_CONTRACT', /ends early, at byte 0/],
    ['white space alone', ' \n\t ', 'PLATFORM_UNAVAILABLE', /still open after 4 bytes/],
  ])('%s', async (_, body, code, message) => {
    const dayBefore = await readDay(date);
    const outcome = await attemptOnce(date, () => body);
    const error = { code, message: expect.stringMatching(message) };
    expect(outcome).toMatchObject({ kind: 'retry', error });
    const where = { id: outcome.pullId };
    expect(await world.prisma.pull.findUniqueOrThrow({ where })).toMatchObject({
      ...{ state: 'queued', attempts: 1 },
      ...{ errorCode: error.code, errorMessage: error.message },
    });
    expect(await readTitles(date)).toMatchObject(BEFORE);
    expect(await readDay(date)).toEqual(dayBefore);
  });

  test('and the next response that is not updates the day', () => expectRecovery(date));
});

// test/unit/reader cuts documents at each byte, and test/integration/platform/transfer.test.ts each kind of transfer.
test.each([
  ['is asked as often as the configuration says', { kind: 'status', status: 500 }, 5],
  ['is asked three times for what is not the documented answer', { kind: 'body', body: '{}' }, 3],
] as const)('a platform that does not recover %s', async (_, fault, requests) => {
  const date = await openDay();
  const dayBefore = await readDay(date);
  const requestsBefore = requestsFor(date);
  world.sandbox.faults.add({ ...fault, date, times: 'forever' });
  const pullId = await world.newPull(date);
  const parts = { ...world.parts, retry: { attempts: 5, backoffSeconds: 1 } };
  const outcome = await pullToEnd(parts, pullId, new AbortController().signal, () => {});
  expect(outcome.kind).toBe('failed');
  expect(requestsFor(date) - requestsBefore).toBe(requests);
  expect(await world.prisma.pull.findUniqueOrThrow({ where: { id: pullId } })).toMatchObject({
    state: 'failed',
    attempts: requests,
    nextAttemptAt: null,
  });
  expect(await readDay(date)).toEqual(dayBefore);
  world.sandbox.faults.clear();
  await expectRecovery(date);
});
