import { type Static, Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { count, date, instantOrNull, orNull, sums, words } from '../../console/api/schema-parts.ts';
import { IS_OPEN_FINDING } from '../../core/ledger/day-ledger.sql.ts';
import {
  DAY_STATES,
  HOLD_REASONS,
  type HoldDetail,
  type HoldReason,
} from '../../core/ledger/states.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const Hold = Type.Object({
  reason: Type.Unsafe<HoldReason | null>({
    type: ['string', 'null'],
    enum: [...HOLD_REASONS, null],
  }),
  detail: Type.Unsafe<HoldDetail | null>(
    Type.Union(
      [
        Type.Object({ found: Type.Integer(), of: orNull('integer'), limit: Type.Integer() }),
        Type.Null(),
      ],
      { description: 'What the limit was compared with, for a hold for plausibility.' },
    ),
  ),
  titles: Type.Integer({ minimum: 0, description: 'Including rejected ones.' }),
  withdrawals: Type.Integer({ minimum: 0, description: 'Titles that a release would withdraw.' }),
  faults: Type.Array(Type.String(), {
    description:
      'For a response that cannot be read: some faults of its titles, with field names and without values.',
  }),
});
export type Hold = Readonly<Static<typeof Hold>>;

/** A day of the ledger. Sums are exact, over current titles. */
export const LedgerDay = Type.Object({
  date,
  state: words(DAY_STATES),
  titles: count,
  withdrawn: count,
  rejected: count,
  sums,
  contentDigest: orNull('string'),
  heldPullId: orNull('integer'),
  lastError: orNull('string', { description: 'Of a failed day: the error of its last attempt.' }),
  hold: Type.Union([Hold, Type.Null()], {
    description: 'The response that waits for a person, and the withdrawals of a release.',
  }),
  openFindings: Type.Integer({
    minimum: 0,
    description: 'Findings of the checks that a person has to resolve.',
  }),
  verifiedAt: instantOrNull,
  changedAt: instantOrNull,
  signedOffAt: instantOrNull,
  signedOffBy: orNull('string'),
  signedOffDigest: orNull('string'),
  isRestated: Type.Boolean({ description: 'Restated after it was signed off.' }),
});
export type LedgerDay = Readonly<Static<typeof LedgerDay>>;

// The names are constants of this program. No input reaches Prisma.raw.
const SUMS = Prisma.raw(
  `jsonb_build_object(${AMOUNT_COLUMNS.map((name) => `'${name}', ${name}_sum::text`).join(', ')})`,
);

const columns = Prisma.sql`
  date::text AS date, state, title_count AS titles, withdrawn_count AS withdrawn, rejected_count AS rejected,
  ${SUMS} AS sums, content_digest AS "contentDigest", held_pull_id::float8 AS "heldPullId",
  verified_at AS "verifiedAt", changed_at AS "changedAt", signed_off_at AS "signedOffAt",
  signed_off_by AS "signedOffBy", signed_off_digest AS "signedOffDigest", restated_after_sign_off AS "isRestated",
  CASE WHEN state = 'failed' THEN (
    SELECT error_message FROM conciliation.pull WHERE pull.date = day.date AND pull.state = 'failed'
    ORDER BY id DESC LIMIT 1) END AS "lastError",
  (SELECT jsonb_build_object(
            'reason', held.hold_reason, 'detail', held.hold_detail, 'titles', held.titles, 'withdrawals', held.withdrawn,
            'faults', CASE WHEN held.hold_reason = 'unreadable' THEN array(
              SELECT DISTINCT fault
              FROM conciliation.staged_reject AS reject CROSS JOIN unnest(reject.reasons) AS fault
              WHERE reject.fence = held.fence ORDER BY fault LIMIT 5) ELSE '{}' END)
   FROM conciliation.pull AS held WHERE held.id = day.held_pull_id) AS hold,
  (SELECT count(*) FROM conciliation.check_finding AS finding
   WHERE finding.accepted_date = day.date AND ${IS_OPEN_FINDING})::int AS "openFindings"`;

/** Selects days with all columns; the condition is about `conciliation.day`. */
export const selectDays = (rest: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`SELECT ${columns} FROM conciliation.day WHERE ${rest}`;

/*
 * A row of a date that has not begun is a mistake, and a page that used the greatest date would
 * show the year 9999. Therefore every reader of the ledger gets today's date and returns no later
 * row.
 */

export function readLedgerDays(
  database: Database,
  range: { readonly from: CivilDate; readonly to: CivilDate },
  today: CivilDate,
): Promise<LedgerDay[]> {
  return database.prisma.$queryRaw<LedgerDay[]>(
    selectDays(Prisma.sql`
      date BETWEEN ${range.from}::date AND least(${range.to}::date, ${today}::date) ORDER BY day.date`),
  );
}

/** Returns null when the ledger does not have the date. */
export async function readLedgerDay(
  database: Database,
  date: CivilDate,
  today: CivilDate,
): Promise<LedgerDay | null> {
  const [day] = await readLedgerDays(database, { from: date, to: date }, today);
  return day ?? null;
}
