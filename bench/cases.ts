/** What is measured against the limit, as data. */
import type { Variant } from './render-process.ts';

export interface Case {
  readonly name: string;
  readonly title: string;
  /** `one`: one response of each size; `many`: responses of 1,000 titles, one for each day. */
  readonly days: 'one' | 'many';
  /** The last days only; all of them unless given. */
  readonly atMostDays?: number;
  /** What the tables hold when the clock starts. */
  readonly before: 'nothing' | 'base';
  readonly answer: Variant;
  /** Concurrent pulls of our side; the limit takes one response after the other. */
  readonly pullsAtOnce: number;
}

/** Titles of one day where there are many days. */
export const DAY_TITLES = 1000;

const ONE_DAY = { days: 'one', before: 'nothing', answer: 'base', pullsAtOnce: 1 } as const;
const MANY_DAYS = { ...ONE_DAY, days: 'many' } as const;

export const CASES: readonly Case[] = [
  { ...ONE_DAY, name: 'first-load', title: 'first load' },
  { ...ONE_DAY, name: 'identical', title: 'identical re-pull', before: 'base' },
  { ...ONE_DAY, name: 'changed', title: '1 % changed', before: 'base', answer: 'changed' },
  { ...MANY_DAYS, name: 'backfill', title: 'backfill, days of 1,000', pullsAtOnce: 4 },
  { ...MANY_DAYS, name: 'day', title: 'one day of 1,000 after the other', atMostDays: 60 },
];
