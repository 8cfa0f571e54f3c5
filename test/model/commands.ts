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
import { digestOf } from '../support/days.ts';
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

/** Whether a person may do it, and does. The program refuses what the model does not allow. */
async function isDone(deed: Promise<unknown>, isAllowed: boolean): Promise<boolean> {
  if (isAllowed) await deed;
  else await expect(deed).rejects.toThrow(InputError);
  return isAllowed;
}

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

/** A command about a date, which its name has as `#`, and with something drawn. */
const ofDay = <T>(
  name: string,
  drawn: fc.Arbitrary<T>,
  deed: (of: { date: CivilDate; model: Model; real: Real }, detail: T) => Promise<void>,
) =>
  fc.tuple(place, drawn).map(([index, detail]) => {
    const text = `${name.replace('#', `day ${index}`)} ${JSON.stringify(detail)}`;
    return command(text, (model, real) =>
      deed({ date: dateAt(model, index), model, real }, detail),
    );
  });
const nothing = fc.constant(null);

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

const says = ofDay('the platform says of #:', answer, async ({ date, model, real }, said) =>
  serve(model, real, date, said),
);

const pull = ofDay('pull #', nothing, async ({ date, model, real }) => {
  await pullDay(model, real, date, await newPull(real, date));
});

/** How many titles may be at hand while a response is read: none, those of some responses, all. */
const knownTitles = fc.constantFrom(0, 3, 1000, 1000);

const saysAndPull = ofDay(
  'pull #, of which it says:',
  fc.tuple(answer, knownTitles),
  async ({ date, model, real }, [said, maxKnownTitles]) => {
    serve(model, real, date, said);
    const pullId = await newPull(real, date);
    await pullDay(model, real, date, pullId, undefined, { maxKnownTitles });
  },
);

const discounts = fc.constantFrom('0.03', '0.04');
/** Titles stay, a discount moves: what nothing holds up. */
const restate = ofDay('restate #', discounts, async ({ date, model, real }, discount) => {
  const { kinds } = dayOf(model, date).answer;
  const [first, ...others] = kinds;
  if (first === undefined) return;
  serve(model, real, date, { kinds: [{ ...first, discount }, ...others], reject: null });
  await pullDay(model, real, date, await newPull(real, date));
});

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

const midnight = ofDay(
  'midnight passes between the request for # and its answer',
  nothing,
  async ({ date, model, real }) => {
    model.today = date;
    await pullDay(model, real, date, await newPull(real, date), () => {
      model.today = addDays(date, 1);
    });
  },
);

const releases = ofDay('what is held on # is released', person, async (of, by) => {
  const { date, model, real } = of;
  const { held } = dayOf(model, date);
  if (held === null) return;
  const decision = { by, reason: 'model' };
  await decisions.releasePull(real.world.parts, held.pullId, decision);
  release(model, date, by, await readContents(real.world, date, real.consumer));
  advance(model);
});

const accepts = ofDay('the rejects of # are accepted', person, async (of, by) => {
  const { date, model, real } = of;
  const day = dayOf(model, date);
  const decision = { by, reason: 'model' };
  const accepting = review.acceptRejects(real.world.database, date, decision);
  if (!(await isDone(accepting, day.reject?.isOpen === true && day.seal === null))) return;
  expect(await accepting).toBe(1);
  const movesOn = day.state === 'attention';
  acceptRejects(model, date, by);
  if (movesOn) advance(model);
});

const signing = fc.tuple(person, fc.nat(4));
const signsOff = ofDay('# is signed off, with 0: unseen,', signing, async (of, [by, dice]) => {
  const { date, model, real } = of;
  const day = dayOf(model, date);
  const seenDigest = dice === 0 ? 'something else' : await digestOf(real.world.database, date, {});
  const signed = review.signOffDay(real.world.database, date, {
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
  if (await isDone(signed, isAllowed)) day.seal = day.contents.join();
});

const reopens = ofDay('# is reopened', nothing, async ({ date, model, real }) => {
  const day = dayOf(model, date);
  const reopening = review.reopenDay(real.world.database, date, { by: 'ana', reason: 'model' });
  if (await isDone(reopening, day.seal !== null)) day.seal = null;
});

/** An attempt during which something else happens, between the request and the first byte that is read. */
const attemptDuring = (model: Model, real: Real, pullId: bigint, work: () => Promise<unknown>) =>
  real.world.run(pullId, { ...partsOf(model, real), ...real.world.meanwhile(work) });

const staleWorker = ofDay(
  'a worker is paused while another takes # over',
  answer,
  async ({ date, model, real }, said) => {
    const pullId = await newPull(real, date);
    const stale = attemptDuring(model, real, pullId, async () => {
      serve(model, real, date, said);
      await pullDay(model, real, date, pullId);
    });
    await expect(stale).rejects.toThrow(StaleFenceError);
  },
);

const takenOver = ofDay(
  '# is taken over, and its worker ends before the other',
  nothing,
  async ({ date, model, real }) => {
    const pullId = await newPull(real, date);
    const { database } = real.world;
    const stale = attemptDuring(model, real, pullId, () => startAttempt(database, pullId));
    await expect(stale).rejects.toThrow(StaleFenceError);
    real.abandoned.push({ pullId, date });
  },
);

const olderFetch = ofDay('a fetch of # ends after a newer one', answer, async (of, said) => {
  const { date, model, real } = of;
  const older = await newPull(real, date);
  const outcome = await attemptDuring(model, real, older, async () => {
    serve(model, real, date, said);
    await pullDay(model, real, date, await newPull(real, date));
  });
  expect(outcome).toMatchObject({ kind: 'done', report: { state: 'superseded' } });
});

const cutAnswer = ofDay('the answer for # is cut', nothing, async ({ date, model, real }) => {
  const { platform } = real.world;
  const cut = {
    ...platform,
    async fetchTitles(window: PullWindow, signal: AbortSignal): Promise<ConciliationResponse> {
      const response = await platform.fetchTitles(window, signal);
      return { ...response, chunks: halfOf(response.chunks) };
    },
  };
  const pullId = await newPull(real, date);
  const outcome = await real.world.run(pullId, { ...partsOf(model, real), platform: cut });
  expect(outcome.kind).toBe('retry');
});

async function* halfOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk.subarray(0, Math.floor(chunk.length / 2));
    throw new PlatformUnavailableError('the transfer was cut');
  }
}

const crash = ofDay('a process dies with # in its hands', nothing, async ({ date, real }) => {
  const pullId = await newPull(real, date);
  await startAttempt(real.world.database, pullId);
  real.abandoned.push({ pullId, date });
});

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
