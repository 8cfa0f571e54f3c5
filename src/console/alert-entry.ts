import type { Language, Text } from '../base/texts/texts.ts';
import type { CivilDate } from '../base/values/business-day.ts';
import type { Prisma } from '../generated/prisma/client.ts';

/** What the conditions of alerts depend on, besides the tables. */
export interface AlertPolicy {
  /** Decides which dates are closed. */
  readonly timeZone: string;
  /** How far the checkpoint may be behind while it advances rarely. Default: 3. */
  readonly maxLagDays?: number;
  /** How long the checkpoint may stay unchanged: longer than the longest gap between two daily runs. Default: 26. */
  readonly maxIdleHours?: number;
  /** Absent: stale payables of the ERP raise no alert. */
  readonly payablesMaxAgeHours?: number;
  /** The slot of the sweeps before the latest. Absent: missing sweeps raise no alert. */
  readonly sweepSlotBefore?: (now: Date) => Date;
  /** The share of PostgreSQL's queue of notifications that may be used. Default: 0.1. */
  readonly notificationsLimit?: number;
}

/**
 * A row of a query of causes. The rows of one cause are one alert, about the oldest of their dates. Every further
 * column is an argument of the message.
 */
export interface AlertRow {
  /** Identifies the alert among those of the kind. Null or absent: the kind is one cause. */
  readonly cause?: string | number | null;
  readonly date?: CivilDate | null;
  readonly pullId?: number | null;
  readonly [argument: string]: unknown;
}

export interface Words {
  readonly language: Language;
  readonly text: Text;
  day(date: string): string;
  /** @param dates in order */
  list(dates: readonly CivilDate[]): string;
}

/**
 * One kind of alert: a condition that a person should know, which can be derived from the tables at any time. Its texts
 * are `alertMessages`, `alerts.kinds` and `alerts.nextSteps`, each with the kind. A message begins small and has no full stop,
 * because the text of a channel continues it. docs/operating.md has the kinds in the order of this list.
 */
export interface AlertEntry {
  /** Critical: it stops the work or may mean fraud. ops/prometheus/rules.yml has the same list. */
  readonly severity: 'critical' | 'warning';
  /** The page that shows what the alert is about. Absent: the day of its date, or the list of alerts. */
  readonly page?: string;
  /** The message changes with every attempt, so it is sent again after a day, not after an hour. */
  readonly isDaily?: true;
  /** A task of the start page counts the same. */
  readonly hasTask?: true;
  /** The queries read the table `provider`, which the ERP may lock. */
  readonly readsProviders?: true;
  causes(at: AlertPolicy & { readonly now: Date }): readonly Prisma.Sql[];
  /**
   * Arguments of the message that a language decides, or that all rows give.
   * @param rows of one cause, in the order of their dates
   */
  values?(rows: readonly AlertRow[], words: Words): Readonly<Record<string, string | number>>;
}
