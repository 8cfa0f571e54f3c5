import fc from 'fast-check';
import { expect } from 'vitest';
import {
  InputError,
  PlatformUnavailableError,
  StaleFenceError,
} from '../../src/base/runtime/errors.ts';
import { addDays, type CivilDate, datesBetween } from '../../src/base/values/business-day.ts';
import { discardStrayRows, startAttempt } from '../../src/core/ledger/pull-ledger.sql.ts';
import { createPull } from '../../src/core/ledger/pull-requests.sql.ts';
import * as decisions from '../../src/core/merge/decisions.sql.ts';
import type { ConciliationResponse } from '../../src/core/platform/conciliation-client.ts';
import type { PullWindow } from '../../src/core/title/title-contract.ts';
import type { PullParts } from '../../src/core/work/run-pull.ts';
import * as review from '../../src/features/review/sign-off.sql.ts';
import type { PullWorld } from '../support/pull-world.ts';
import { sweep } from '../support/sweeps.ts';
import { titleText } from '../support/titles.ts';
import {
  type Answer,
  acceptRejects,
  advance,
  dayOf,
  differingDates,
  type FetchOutcome,
  fetchInto,
  type Model,
  type Reject,
  release,
} from './day-model.ts';
import { expectTables, type FeedConsumer, readContents } from './tables.ts';

export interface Real {
  readonly world: PullWorld;
  readonly consumer: FeedConsumer;
  /** Pulls whose process died while it had them. */
  readonly abandoned: { readonly pullId: bigint; readonly date: CivilDate }[];
}

type Command = fc.AsyncCommand<Model, Real>;
type Deed = (model: Model, real: Real) => Promise<void>;

const PEOPLE = ['ana', 'bob'] as const;
/** Dates that the platform may have titles of; the clock goes a little beyond. */
const DATES = 2;
export const MODEL_DATES = 6;

const kind = fc.record({
  uid: fc.constantFrom('a', 'b', 'c'),
  value: fc.constantFrom('10', '10.00', '0.1', '12345678901234567.89'),
  discount: fc.constantFrom('0.01', '0.02'),
  dueDate: fc.constantFrom('2030-01-01', '2030-01-02'),
});
const place = fc.nat(DATES - 1);
const person = fc.constantFrom(...PEOPLE);
const reject = fc.option(fc.constantFrom('a', 'other', 'unreadable'), { freq: 3 });
const answer: fc.Arbitrary<Answer> = fc.record({
  kinds: fc.array(kind, { maxLength: 6 }),
  // Most answers have none.
  reject: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: reject }),
});

/** After any commands, the tables equal the model. */
function command(name: string, deed: Deed): Command {
  return {
    check: () => true,
    async run(model, real) {
      await deed(model, real);
      await expectTables(real.world, model, real.consumer);
    },
    toString: () => name,
  };
}

const dateAt = (model: Model, index: number) => addDays(model.startDate, index);
const clockOf = (model: Model) => () => new Date(`${model.today}T12:00:00Z`);
const partsOf = (model: Model, real: Real): PullParts => ({
  ...real.world.parts,
  now: clockOf(model),
});
const isClosed = (model: Model, date: CivilDate) => date < model.today;

const REJECTS: Readonly<Record<Reject, (date: CivilDate) => string>> = {
  a: (date) => titleText({ date, uid: 'a', value: '"a word"' }),
  other: (date) => titleText({ date, uid: 'other', value: '"a word"' }),
  unreadable: (date) => titleText({ date, uid: 'a' }).replace('"uid":"a"', '"uid":7'),
};

function serve(model: Model, real: Real, date: CivilDate, said: Answer): void {
  dayOf(model, date).answer = said;
  const texts = said.kinds.map((fields) => titleText({ date, ...fields }));
  if (said.reject !== null) texts.push(REJECTS[said.reject](date));
  real.world.sandbox.setDayTexts(date, texts);
}

function newPull(real: Real, date: CivilDate, origin: 'manual' | 'backfill' = 'manual') {
  return createPull(real.world.database, { origin, date, requestedBy: 'model' });
}

/**
 * One attempt that has to be answered, beside the model.
 *
 * @param meanwhile runs once the answer has been asked for and before any of it is read
 */
async function pullDay(
  model: Model,
  real: Real,
  date: CivilDate,
  pullId: bigint,
  meanwhile: () => void = () => undefined,
  overrides: Partial<PullParts> = {},
): Promise<void> {
  await real.consumer.read();
  const wasClosed = isClosed(model, date);
  const { answer: said } = dayOf(model, date);
  const platform = real.world.meanwhile(async () => meanwhile());
  const parts = { ...partsOf(model, real), ...platform, ...overrides };
  const outcome = await real.world.run(pullId, parts);
  if (outcome.kind !== 'done') throw outcome.error;
  const actual = await readContents(real.world, date, real.consumer);
  const { state, withheld } = outcome.report;
  const fetched = { answer: said, wasClosed };
  const expected = fetchInto(model, date, pullId, fetched, actual, state === 'held');
  expect<FetchOutcome | { state: string }>({ state, withheld }).toEqual(expected);
  if (state !== 'held') advance(model);
  // A command without a change adds no row to the feed.
  if (state !== 'merged') expect(await real.consumer.read()).toBe(0);
}

const says = fc
  .tuple(place, answer)
  .map(([index, said]) =>
    command(`the platform says of day ${index}: ${JSON.stringify(said)}`, async (model, real) =>
      serve(model, real, dateAt(model, index), said),
    ),
  );

const pull = place.map((index) =>
  command(`pull day ${index}`, async (model, real) => {
    const date = dateAt(model, index);
    await pullDay(model, real, date, await newPull(real, date));
  }),
);

/** How many titles may be at hand while a response is read: none, those of some responses, all. */
const knownTitles = fc.constantFrom(0, 3, 1000, 1000);

const saysAndPull = fc.tuple(place, answer, knownTitles).map(([index, said, maxKnownTitles]) =>
  command(`pull day ${index}, of which it says: ${JSON.stringify(said)}`, async (model, real) => {
    const date = dateAt(model, index);
    serve(model, real, date, said);
    const pullId = await newPull(real, date);
    await pullDay(model, real, date, pullId, undefined, { maxKnownTitles });
  }),
);

/** Titles stay, a discount moves: what nothing holds up. */
const restate = fc.tuple(place, fc.constantFrom('0.03', '0.04')).map(([index, discount]) =>
  command(`day ${index} is restated by a discount of ${discount}`, async (model, real) => {
    const date = dateAt(model, index);
    const { kinds } = dayOf(model, date).answer;
    const [first, ...others] = kinds;
    if (first === undefined) return;
    serve(model, real, date, { kinds: [{ ...first, discount }, ...others], reject: null });
    await pullDay(model, real, date, await newPull(real, date));
  }),
);

const backfill = fc.tuple(place, place).map(([one, other]) =>
  command(`backfill days ${one} and ${other}`, async (model, real) => {
    const [from, to] = [dateAt(model, one), dateAt(model, other)].sort();
    if (from === undefined || to === undefined) return;
    for (const date of datesBetween(from, to)) {
      await pullDay(model, real, date, await newPull(real, date, 'backfill'));
    }
  }),
);

/** The dates that differ; to compare them changes no title. */
async function sweepAll(model: Model, real: Real): Promise<readonly CivilDate[]> {
  await real.consumer.read();
  const now = clockOf(model);
  const report = await sweep(real.world, model.startDate, { now });
  const differing = report.differences.map(({ date }) => date);
  expect(differing).toEqual(differingDates(model));
  expect(await real.consumer.read()).toBe(0);
  return differing;
}

/**
 * Sweeps, and pulls what the sweep asks for.
 *
 * @param meanwhile runs between the sweep and the first of its pulls
 * @returns whether there was a sweep: a ledger without any answer has nothing to compare with
 */
export async function sweepAndPull(
  model: Model,
  real: Real,
  meanwhile: () => void = () => undefined,
): Promise<boolean> {
  if (![...model.days.values()].some(({ answered }) => answered !== null)) return false;
  const differing = await sweepAll(model, real);
  await expectTables(real.world, model, real.consumer);
  meanwhile();
  for (const date of differing) await pullDay(model, real, date, await newPull(real, date));
  await expectTables(real.world, model, real.consumer);
  return true;
}

const sweeps = fc.option(fc.tuple(place, answer)).map((restated) =>
  command(
    `a sweep and its pulls; between them: ${JSON.stringify(restated)}`,
    async (model, real) => {
      await sweepAndPull(model, real, () => {
        if (restated !== null) serve(model, real, dateAt(model, restated[0]), restated[1]);
      });
    },
  ),
);

const midnight = place.map((index) =>
  command(
    `midnight passes between the request for day ${index} and its answer`,
    async (model, real) => {
      const date = dateAt(model, index);
      model.today = date;
      await pullDay(model, real, date, await newPull(real, date), () => {
        model.today = addDays(date, 1);
      });
    },
  ),
);

const releases = fc.tuple(place, person).map(([index, by]) =>
  command(`${by} releases what is held on day ${index}`, async (model, real) => {
    const date = dateAt(model, index);
    const { held } = dayOf(model, date);
    if (held === null) return;
    const decision = { by, reason: 'model' };
    await decisions.releasePull(real.world.parts, held.pullId, decision);
    release(model, date, by, await readContents(real.world, date, real.consumer));
    advance(model);
  }),
);

const accepts = fc.tuple(place, person).map(([index, by]) =>
  command(`${by} accepts the rejects of day ${index}`, async (model, real) => {
    const date = dateAt(model, index);
    const day = dayOf(model, date);
    const decision = { by, reason: 'model' };
    const accepting = review.acceptRejects(real.world.database, date, decision);
    if (day.reject?.isOpen !== true || day.seal !== null) {
      await expect(accepting).rejects.toThrow(InputError);
      return;
    }
    expect(await accepting).toBe(1);
    const movesOn = day.state === 'attention';
    acceptRejects(model, date, by);
    if (movesOn) advance(model);
  }),
);

const signsOff = fc.tuple(place, person, fc.nat(4)).map(([index, by, dice]) =>
  command(`${by} signs day ${index} off${dice === 0 ? ', unseen' : ''}`, async (model, real) => {
    const date = dateAt(model, index);
    const day = dayOf(model, date);
    const [row] = await real.world.database.prisma.$queryRaw<{ digest: string | null }[]>`
      SELECT content_digest AS digest FROM conciliation.day WHERE date = ${date}::date`;
    const seenDigest = dice === 0 ? 'something else' : (row?.digest ?? '');
    const signing = review.signOffDay(real.world.database, date, {
      by,
      reason: null,
      seenDigest,
      fourEyes: true,
    });
    const isAllowed =
      day.state === 'reconciled' &&
      dice !== 0 &&
      day.seal !== day.contents.join() &&
      !day.deciders.has(by);
    if (!isAllowed) {
      await expect(signing).rejects.toThrow(InputError);
      return;
    }
    await signing;
    day.seal = day.contents.join();
  }),
);

const reopens = place.map((index) =>
  command(`day ${index} is reopened`, async (model, real) => {
    const date = dateAt(model, index);
    const day = dayOf(model, date);
    const reopening = review.reopenDay(real.world.database, date, { by: 'ana', reason: 'model' });
    if (day.seal === null) {
      await expect(reopening).rejects.toThrow(InputError);
      return;
    }
    await reopening;
    day.seal = null;
  }),
);

/** An attempt during which something else happens, between the request and the first byte that is read. */
const attemptDuring = (model: Model, real: Real, pullId: bigint, work: () => Promise<unknown>) =>
  real.world.run(pullId, { ...partsOf(model, real), ...real.world.meanwhile(work) });

const staleWorker = fc.tuple(place, answer).map(([index, said]) =>
  command(`a worker is paused while another takes day ${index} over`, async (model, real) => {
    const date = dateAt(model, index);
    const pullId = await newPull(real, date);
    const stale = attemptDuring(model, real, pullId, async () => {
      serve(model, real, date, said);
      await pullDay(model, real, date, pullId);
    });
    await expect(stale).rejects.toThrow(StaleFenceError);
  }),
);

const takenOver = place.map((index) =>
  command(
    `day ${index} is taken over, and its worker ends before the other`,
    async (model, real) => {
      const date = dateAt(model, index);
      const pullId = await newPull(real, date);
      const { database } = real.world;
      const stale = attemptDuring(model, real, pullId, () => startAttempt(database, pullId));
      await expect(stale).rejects.toThrow(StaleFenceError);
      real.abandoned.push({ pullId, date });
    },
  ),
);

const olderFetch = fc.tuple(place, answer).map(([index, said]) =>
  command(`a fetch of day ${index} ends after a newer one`, async (model, real) => {
    const date = dateAt(model, index);
    const older = await newPull(real, date);
    const outcome = await attemptDuring(model, real, older, async () => {
      serve(model, real, date, said);
      await pullDay(model, real, date, await newPull(real, date));
    });
    expect(outcome).toMatchObject({ kind: 'done', report: { state: 'superseded' } });
  }),
);

const cutAnswer = place.map((index) =>
  command(`the answer for day ${index} is cut`, async (model, real) => {
    const { platform } = real.world;
    const cut = {
      ...platform,
      async fetchTitles(window: PullWindow, signal: AbortSignal): Promise<ConciliationResponse> {
        const response = await platform.fetchTitles(window, signal);
        return { ...response, chunks: halfOf(response.chunks) };
      },
    };
    const pullId = await newPull(real, dateAt(model, index));
    const outcome = await real.world.run(pullId, { ...partsOf(model, real), platform: cut });
    expect(outcome.kind).toBe('retry');
  }),
);

async function* halfOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk.subarray(0, Math.floor(chunk.length / 2));
    throw new PlatformUnavailableError('the transfer was cut');
  }
}

const crash = place.map((index) =>
  command(`a process dies with day ${index} in its hands`, async (model, real) => {
    const date = dateAt(model, index);
    const pullId = await newPull(real, date);
    await startAttempt(real.world.database, pullId);
    real.abandoned.push({ pullId, date });
  }),
);

const takeOver = fc.constant(
  command('a dead process’s pull is taken over', async (model, real) => {
    const found = real.abandoned.shift();
    if (found !== undefined) await pullDay(model, real, found.date, found.pullId);
  }),
);

const cleanUp = fc.constant(
  command('what dead processes staged is removed', async (_, real) => {
    await discardStrayRows(real.world.database);
  }),
);

const clock = fc.nat(MODEL_DATES - 1).map((index) =>
  command(`it is day ${index}`, async (model) => {
    model.today = dateAt(model, index);
  }),
);

/** Often: what changes something to be seen. */
export const COMMANDS = [
  ...[says, saysAndPull, saysAndPull, saysAndPull, saysAndPull, restate, restate, restate],
  ...[pull, backfill, midnight, midnight, sweeps, sweeps],
  ...[releases, releases, accepts, signsOff, signsOff, signsOff, reopens],
  ...[staleWorker, takenOver, olderFetch, cutAnswer, crash, takeOver, cleanUp, clock],
];
