import type { CivilDate } from '../../src/domain/business-day.ts';

/** A title as the model has it: few values, so that identities collide and contents repeat. */
export interface Kind {
  readonly uid: string;
  readonly value: string;
  readonly discount: string;
  readonly dueDate: string;
}

/** What the platform says of a date. */
export interface Answer {
  readonly kinds: readonly Kind[];
  /** Whether one title among them breaks the contract, always the same one. */
  readonly hasReject: boolean;
}

export type ModelState = 'pending' | 'reconciled' | 'attention' | 'held';

/** What has to stand in the tables of one date. Contents are sorted, so that equal lists are multisets. */
export interface ModelDay {
  answer: Answer;
  /** Whether the ledger has a row of it. */
  isKnown: boolean;
  state: ModelState;
  contents: readonly string[];
  isMerged: boolean;
  reject: 'none' | 'open' | 'accepted';
  held: { readonly pullId: bigint; readonly answer: Answer } | null;
  deciders: Set<string>;
  seal: string | null;
  isRestated: boolean;
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
    answer: { kinds: [], hasReject: false },
    isKnown: false,
    state: 'pending',
    contents: [],
    isMerged: false,
    reject: 'none',
    held: null,
    deciders: new Set(),
    seal: null,
    isRestated: false,
    history: [],
  };
}

/** Hundredths as a whole number: amounts that are only written differently are the same. */
function cents(amount: string): string {
  const [whole = '', fraction = ''] = amount.split('.');
  return String(BigInt(whole + fraction.padEnd(2, '0')));
}

const identityOf = (content: string) => content.split('|').slice(0, 3).join('|');

export function contentsOf(kinds: readonly Kind[]): string[] {
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

/** Titles that would be withdrawn: neither content nor identity is in the response once more. */
function withdrawalsOf(present: readonly string[], response: readonly string[]): number {
  const outgoing = without(present, response).map(identityOf);
  const incoming = without(response, present).map(identityOf);
  return without(outgoing, incoming).length;
}

export const LIMIT_PERCENT = 20;

/** What a fetch that nobody has overtaken does to its date. */
export function fetchInto(
  model: Model,
  date: CivilDate,
  pullId: bigint,
  answer: Answer,
): 'merged' | 'unchanged' | 'held' {
  const day = dayOf(model, date);
  day.isKnown = true;
  const response = contentsOf(answer.kinds);
  const withdrawals = withdrawalsOf(day.contents, response);
  const isHeld =
    withdrawals > 0 &&
    (response.length === 0 || withdrawals * 100 > LIMIT_PERCENT * day.contents.length);
  if (isHeld) {
    day.state = 'held';
    day.held = { pullId, answer };
    return 'held';
  }
  return merge(model, date, pullId, answer) ? 'merged' : 'unchanged';
}

/** A person lets through what a pull holds, on every date on which it does. */
export function release(model: Model, pullId: bigint, by: string): void {
  for (const [date, day] of model.days) {
    if (day.held?.pullId !== pullId) continue;
    merge(model, date, pullId, day.held.answer);
    day.deciders.add(by);
  }
}

function merge(model: Model, date: CivilDate, pullId: bigint, answer: Answer): boolean {
  const day = dayOf(model, date);
  const contents = contentsOf(answer.kinds);
  const isChanged = contents.join() !== day.contents.join();
  day.contents = contents;
  day.isMerged = true;
  day.held = null;
  day.reject = answer.hasReject ? (day.reject === 'none' ? 'open' : day.reject) : 'none';
  day.state = day.reject === 'open' ? 'attention' : stateOnceClean(model, date);
  if (isChanged && day.seal !== null && day.seal !== contents.join()) day.isRestated = true;
  day.history.push({ pullId, contents });
  return isChanged;
}

export function acceptRejects(model: Model, date: CivilDate, by: string): void {
  const day = dayOf(model, date);
  day.reject = 'accepted';
  day.deciders.add(by);
  if (day.state === 'attention') day.state = stateOnceClean(model, date);
}

function stateOnceClean(model: Model, date: CivilDate): ModelState {
  return date < model.today ? 'reconciled' : 'pending';
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
