/** Dates before BOOKINGS_FROM that were signed off again with another content: the ERP lacks the difference. */
import { type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database, QueryClient } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { requireOtherSigner } from '../review/own-seal.sql.ts';
import { lockDay } from './release.sql.ts';

export interface UnbookedChange {
  readonly date: CivilDate;
  /** Of the present seal. */
  readonly signOffId: number;
  readonly signedOffAt: Date;
  readonly signedOffBy: string;
  /** The fence of the seal whose content the ERP has. */
  readonly fence: string;
}

/**
 * The changes, as `UnbookedChange`, in date order. A date is compared with the newest of its seals whose difference a person has
 * posted, or that is older than the stored BOOKINGS_FROM, otherwise with its first seal. A day that was restated since
 * its seal is among them once it is signed off again.
 */
export const UNBOOKED_CHANGES = Prisma.sql`
  SELECT seal.date::text AS date, seal.id::float8 AS "signOffId", seal.signed_off_at AS "signedOffAt",
         seal.signed_off_by AS "signedOffBy", known.fence::text AS fence
  FROM conciliation.booking_start AS start
  JOIN conciliation.sign_off AS seal ON seal.date < start.bookings_from AND seal.ended_at IS NULL
  JOIN conciliation.day ON day.date = seal.date AND NOT day.restated_after_sign_off
  CROSS JOIN LATERAL (
    SELECT min(earlier.id) AS first_id, max(earlier.id) FILTER (WHERE signed_off_at < start.stored_at) AS booked_id
    FROM conciliation.sign_off AS earlier WHERE earlier.date = seal.date
  ) AS history
  CROSS JOIN LATERAL (
    SELECT max((details->>'signOffId')::bigint) AS posted_id FROM conciliation.audit_entry AS entry
    WHERE entry.date = seal.date AND action = 'bookings.difference'
  ) AS decision
  JOIN conciliation.sign_off AS known ON known.id = coalesce(greatest(booked_id, posted_id), first_id)
  WHERE history.first_id < seal.id AND known.content_digest <> seal.content_digest
  ORDER BY seal.date`;

export const readUnbookedChanges = (tx: QueryClient): Promise<UnbookedChange[]> =>
  tx.$queryRaw(UNBOOKED_CHANGES);

export const noDifference = (date: CivilDate): InputError =>
  new InputError(`${date}: no such difference waits to be posted`, {
    context: { fault: 'no_difference', date },
  });

/**
 * Records that the ERP has the difference that a person saw.
 * @param decision.fourEyes whether the person who signed the day off may not confirm. Absent: no.
 * @throws InputError where the date has no such difference any more, or the person may not confirm
 */
export function confirmUnbookedChange(
  database: Database,
  date: CivilDate,
  decision: Decision & { readonly signOffId: number; readonly fourEyes?: boolean },
): Promise<void> {
  const { by, reason, signOffId, fourEyes } = decision;
  return database.prisma.$transaction(async (tx) => {
    await lockDay(tx, date);
    if (fourEyes === true) await requireOtherSigner(tx, [date], by);
    const changes = await readUnbookedChanges(tx);
    if (!changes.some((change) => change.date === date && change.signOffId === signOffId)) {
      throw noDifference(date);
    }
    const details = { signOffId };
    await recordAudit(tx, { actor: by, action: 'bookings.difference', date, reason, details });
  });
}
