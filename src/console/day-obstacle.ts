import type { CivilDate } from '../base/values/business-day.ts';
import type { Prisma } from '../generated/prisma/client.ts';

export interface ObstacleRules {
  /** The person who would sign as the second one. Absent or null: nobody needs to be. */
  readonly signer?: string | null;
  /** The first accepted date whose seals release bookings. Absent or null: seals release nothing. */
  readonly bookingsFrom?: CivilDate | null;
  /** ERP_PAYABLES_MAX_AGE_HOURS. Absent: payables are never too old. */
  readonly payablesMaxAgeHours?: number | undefined;
}

export type KeptStep = 'sign' | 'release' | 'program';

/**
 * What keeps a day from being signed off or released, or what a person has to know before. A feature declares it once,
 * for the pages, the API, the sign-off by a person or by the program, and the release. Its text is `obstacles` with the
 * code, or that of its kind.
 */
export interface DayObstacle {
  /**
   * sign: nobody signs the day. release: the signed day waits. program: a person may sign the day, and the program does
   * not. Empty: for information.
   */
  readonly keeps: readonly KeptStep[];
  /**
   * Rows (kind, found, value, is_urgent) of a date; no row: the day does not have the obstacle. All columns may be null.
   * A fifth column `waits` says whether the titles of the row wait at the release; absent or null: nothing is released.
   * @param date an expression of SQL; no alias inside is `day` or `wanted`, as which it may be given
   */
  readonly rows: (date: Prisma.Sql, rules: ObstacleRules) => Prisma.Sql;
  /** Where a person sees to it. */
  readonly href?: (date: CivilDate, kind: string | null) => string;
}
