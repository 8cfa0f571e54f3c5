import type { CivilDate } from '../../src/base/values/business-day.ts';

/** A title as the model has it: few values, so that identities collide and contents repeat. */
export interface Kind {
  readonly uid: string;
  readonly value: string;
  readonly discount: string;
  readonly dueDate: string;
}

/**
 * A title among those of an answer that breaks the contract: its order uid, which is that of other titles
 * or of none, or that it cannot be read. The same value is the same text each time.
 */
export type Reject = 'a' | 'other' | 'unreadable';

export interface Answer {
  readonly kinds: readonly Kind[];
  readonly reject: Reject | null;
}

/** An answer, and whether its date was over when it was asked for. */
export interface Fetched {
  readonly answer: Answer;
  readonly wasClosed: boolean;
}

export type ModelState = 'pending' | 'reconciled' | 'attention' | 'held';

/** The expected rows of the tables for one date. Contents are sorted, so that equal lists are multisets. */
export interface ModelDay {
  answer: Answer;
  /** Whether the ledger has a row of it. */
  isKnown: boolean;
  state: ModelState;
  contents: readonly string[];
  /** The titles of the newest complete answer that keep the contract, held or merged; null: no answer. */
  answered: readonly string[] | null;
  /** The same of the answer that was merged last. */
  merged: readonly string[] | null;
  /** Whether the date was over when what was merged last was asked for. */
  wasClosed: boolean;
  reject: { readonly of: Reject; readonly isOpen: boolean } | null;
  held: { readonly pullId: bigint; readonly fetched: Fetched } | null;
  deciders: Set<string>;
  seal: string | null;
  /** After which pull the date had which contents. */
  readonly history: { readonly pullId: bigint; readonly contents: readonly string[] }[];
}

export interface Model {
  readonly days: Map<CivilDate, ModelDay>;
  readonly startDate: CivilDate;
  lastReconciledDate: CivilDate | null;
  today: CivilDate;
}

export function newDay(): ModelDay {
  return {
    answer: { kinds: [], reject: null },
    isKnown: false,
    state: 'pending',
    contents: [],
    answered: null,
    merged: null,
    wasClosed: false,
    reject: null,
    held: null,
    deciders: new Set(),
    seal: null,
    history: [],
  };
}

/** Hundredths as a whole number: amounts that are only written differently are the same. */
export function cents(amount: string): string {
  const [whole = '', fraction = ''] = amount.split('.');
  return String(BigInt(whole + fraction.padEnd(2, '0')));
}

const identityOf = (content: string) => content.split('|').slice(0, 3).join('|');

function contentsOf(kinds: readonly Kind[]): string[] {
  return kinds
    .map(({ uid, value, discount, dueDate }) =>
      [uid, cents(value), dueDate, cents(discount)].join('|'),
    )
    .sort();
}

/** `one` without what `other` has, copy by copy. */
function without(one: readonly string[], other: readonly string[]): string[] {
  const left = [...other];
  return one.filter((text) => {
    const at = left.indexOf(text);
    if (at === -1) return true;
    left.splice(at, 1);
    return false;
  });
}

/** The identities of the titles that an answer lacks: neither content nor identity is there once more. */
function lacking(present: readonly string[], response: readonly string[]): string[] {
  const outgoing = without(present, response).map(identityOf);
  const incoming = without(response, present).map(identityOf);
  return without(outgoing, incoming).sort();
}

/** Whether a title that the answer lacks may be the one that it has and that breaks the contract. */
function mayBe(identity: string, reject: Reject | null): boolean {
  return reject === 'unreadable' || (reject !== null && identity.split('|')[0] === reject);
}

export interface FetchOutcome {
  readonly state: 'merged' | 'unchanged' | 'held';
  /** Titles that stay although the answer lacks them. */
  readonly withheld: number;
}

/**
 * The effect of a fetch on its date, where no newer fetch has been merged.
 *
 * @param actual what the date has afterwards: of titles with one identity, the model does not say which
 *   ones are withdrawn and which ones change
 * @param isHeld whether the program holds the response. Only a response that withdraws titles may be held; which one
 *   is held depends on limits over other responses and dates, which have tests of their own
 */
export function fetchInto(
  model: Model,
  date: CivilDate,
  pullId: bigint,
  fetched: Fetched,
  actual: readonly string[],
  isHeld: boolean,
): FetchOutcome {
  const day = dayOf(model, date);
  day.isKnown = true;
  const { kinds } = fetched.answer;
  const response = contentsOf(kinds);
  day.answered = response;
  const lacked = lacking(day.contents, response);
  const withheld = staying(day.contents, fetched.answer).length;
  const withdrawals = lacked.length - withheld;
  if (isHeld && withdrawals > 0) {
    day.state = 'held';
    day.held = { pullId, fetched };
    return { state: 'held', withheld };
  }
  const isChanged = merge(day, pullId, fetched, actual);
  return { state: isChanged ? 'merged' : 'unchanged', withheld };
}

/** The dates of which a sweep says that the platform and the ledger differ, in order. */
export function differingDates(model: Model): CivilDate[] {
  return [...model.days.keys()].sort().filter((date) => {
    const { answer, answered } = dayOf(model, date);
    return date < model.today && contentsOf(answer.kinds).join() !== answered?.join();
  });
}

/** A person lets through what a pull holds. */
export function release(
  model: Model,
  date: CivilDate,
  by: string,
  actual: readonly string[],
): void {
  const day = dayOf(model, date);
  if (day.held === null) throw new Error(`${date} is not held`);
  merge(day, day.held.pullId, day.held.fetched, actual);
  day.deciders.add(by);
}

function merge(
  day: ModelDay,
  pullId: bigint,
  { answer, wasClosed }: Fetched,
  actual: readonly string[],
): boolean {
  const response = contentsOf(answer.kinds);
  const isSame = response.join() === day.merged?.join();
  const withholds = staying(day.contents, answer).length > 0;
  const contents = settle(day.contents, answer, actual);
  const isChanged = contents.join() !== day.contents.join();
  day.contents = contents;
  day.wasClosed = wasClosed;
  day.held = null;
  const { reject } = answer;
  if (reject === null) day.reject = null;
  else if (day.reject?.of !== reject || (withholds && !isSame)) {
    day.reject = { of: reject, isOpen: true };
  }
  day.merged = response;
  day.state = day.reject?.isOpen === true ? 'attention' : stateOnceClean(day);
  day.history.push({ pullId, contents });
  return isChanged;
}

/** The identities of the titles that an answer lacks and that stay, because they may be its reject. */
function staying(before: readonly string[], { kinds, reject }: Answer): string[] {
  return lacking(before, contentsOf(kinds)).filter((identity) => mayBe(identity, reject));
}

/** The answer's titles, and those that it lacks and that stay: which ones of an identity, `actual` says. */
function settle(before: readonly string[], answer: Answer, actual: readonly string[]): string[] {
  const response = contentsOf(answer.kinds);
  const stay = staying(before, answer);
  if (stay.length === 0) return response;
  const stayed = without(actual, response);
  const isPossible =
    actual.length === response.length + stay.length &&
    without(response, actual).length === 0 &&
    without(stayed, without(before, response)).length === 0 &&
    stayed.map(identityOf).sort().join() === stay.join();
  if (!isPossible) {
    throw new Error(`not ${response} with ${stay} of ${before}: ${actual}`);
  }
  return [...actual].sort();
}

export function acceptRejects(model: Model, date: CivilDate, by: string): void {
  const day = dayOf(model, date);
  if (day.reject === null) throw new Error(`${date} has no reject`);
  day.reject = { ...day.reject, isOpen: false };
  day.deciders.add(by);
  if (day.state === 'attention') day.state = stateOnceClean(day);
}

/** The time of the request decides whether a date is over, and not the time of the merge, release or acceptance. */
function stateOnceClean({ wasClosed }: ModelDay): ModelState {
  return wasClosed ? 'reconciled' : 'pending';
}

/** The dates in order; the watermark passes what is reconciled without a gap, and never goes back. */
export function advance(model: Model): void {
  for (const date of [...model.days.keys()].sort()) {
    if (model.lastReconciledDate !== null && date <= model.lastReconciledDate) continue;
    if (dayOf(model, date).state !== 'reconciled') return;
    model.lastReconciledDate = date;
  }
}

export function dayOf(model: Model, date: CivilDate): ModelDay {
  const day = model.days.get(date);
  if (day === undefined) throw new Error(`${date} is no date of the model`);
  return day;
}
