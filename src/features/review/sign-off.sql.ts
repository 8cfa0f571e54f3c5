import { type AuditAction, actionsOf, type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { InputError, StagingUnavailableError } from '../../base/runtime/errors.ts';
import { namesIn, refusal } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { ObstacleRules } from '../../console/day-obstacle.ts';
import { lockDay } from '../../core/ledger/day-ledger.sql.ts';
import { settleDay } from '../../core/merge/decisions.sql.ts';
import { AUTO_SIGN_OFF_AUTHOR } from '../../core/merge/holds.sql.ts';
import { MERGE_TRANSACTION } from '../../core/merge/merge.sql.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { beginBookings } from '../bookings/booking-start.sql.ts';
import {
  RELEASE_TRANSACTION,
  type ReleaseRules,
  releaseSealedDay,
} from '../bookings/release.sql.ts';
import { compareDate } from '../verify/verify.sql.ts';
import {
  hasObstacle,
  type Keeping,
  keeps,
  PROGRAM_OBSTACLES,
  readObstacles,
  seenOf,
} from './obstacles.sql.ts';

/** The ledger's data for the sign-off of a day. */
export interface SignOffCandidate {
  /** `seenOf` the day as it is. */
  readonly digest: string;
  readonly isSignedOff: boolean;
  readonly isRestated: boolean;
  /** What keeps the day from being signed off by this person, the first reason first. */
  readonly obstacles: readonly Keeping<'sign'>[];
}

export type SignOffFault = Keeping<'sign'> | 'already_signed_off' | 'changed_meanwhile';

/**
 * Returns null when the day may be signed off: it is not signed in its present state, is as the user has seen it, and
 * has no obstacle.
 * @param seenDigest `seenOf` the day as this person looked at it
 */
export function signOffFault(day: SignOffCandidate, seenDigest: string): SignOffFault | null {
  if (day.obstacles.includes('not_reconciled')) return 'not_reconciled';
  if (day.isSignedOff && !day.isRestated) return 'already_signed_off';
  if (day.digest !== seenDigest) return 'changed_meanwhile';
  return day.obstacles[0] ?? null;
}

/**
 * Why a day of a list was not signed off.
 * - `not_in_ledger`: the ledger does not have the date
 * - `unavailable`: the database did not answer; the day may be signed off again
 */
export type SignOffRefusal = SignOffFault | 'not_in_ledger' | 'unavailable';

const sums = Prisma.raw(AMOUNT_COLUMNS.map((name) => `${name}_sum`).join(', '));

export interface Signing {
  readonly by: string;
  readonly reason: string | null;
}

export interface SigningRules extends Omit<ReleaseRules, 'signer'> {
  /** Whether a person who decided about the day may not sign it. */
  readonly fourEyes: boolean;
  /** Whether the checks have to run on the content of a day before its sign-off. Absent: no. */
  readonly requiresChecks?: boolean;
}

export const obstacleRules = (
  { fourEyes, bookingsFrom = null, payablesMaxAgeHours }: SigningRules,
  signer: string,
): ObstacleRules => ({ signer: fourEyes ? signer : null, bookingsFrom, payablesMaxAgeHours });

/**
 * Seals a reconciled date: its digest and totals, with the user and the time. A sign-off of a date
 * that was restated ends the seal before and writes a new one. The same transaction releases the bookings.
 * @param signing.seenDigest `seenOf` the day as the person saw it; another content, or another reservation, is not sealed
 * @throws InputError when the date cannot be signed off, or not by this person
 */
export async function signOffDay(
  database: Database,
  date: CivilDate,
  signing: Signing & SigningRules & { readonly seenDigest: string },
): Promise<void> {
  const { requiresChecks = false } = signing;
  const refused = await database.prisma.$transaction(async (tx) => {
    const day = await lockCandidate(tx, date);
    const rules = obstacleRules(signing, signing.by);
    await compareDate(tx, date);
    const { contentDigest, signedOffAt, restatedAfterSignOff: isRestated } = day;
    const found = [...((await readObstacles(tx, [date], rules)).get(date) ?? [])];
    const digest = seenOf({ contentDigest, obstacles: found });
    const obstacles = found.flatMap(({ code }) =>
      keeps(code, 'sign') && (code !== 'not_checked' || requiresChecks) ? code : [],
    );
    const fault = signOffFault(
      { digest, isSignedOff: signedOffAt !== null, isRestated, obstacles },
      signing.seenDigest,
    );
    if (fault === null) await sealDay(tx, date, signing);
    return fault;
  }, RELEASE_TRANSACTION);
  if (refused !== null) throw refusal(refused, { date });
}

/**
 * Seals the present content of a date, with an entry of the audit log, and releases its bookings. The caller has
 * locked the row of the day and checked that the day may be sealed and is not altered.
 */
async function sealDay(
  tx: Transaction,
  date: CivilDate,
  signing: Signing & Pick<SigningRules, 'bookingsFrom' | 'payablesMaxAgeHours' | 'timeZone'>,
): Promise<void> {
  const { bookingsFrom = null } = signing;
  if (bookingsFrom !== null) await beginBookings(tx, date, bookingsFrom, signing.by);
  await endSeal(tx, date, { by: signing.by, reason: null });
  await tx.$executeRaw`
      INSERT INTO conciliation.sign_off
        (date, signed_off_by, reason, fence, content_digest, title_count, withdrawn_count,
         rejected_count, ${sums})
      SELECT date, ${signing.by}, ${signing.reason},
             (SELECT fence FROM conciliation.pull WHERE pull.id = day.last_pull_id),
             content_digest, title_count, withdrawn_count, rejected_count, ${sums}
      FROM conciliation.day day WHERE date = ${date}::date`;
  await tx.$executeRaw`
      UPDATE conciliation.day
      SET signed_off_at = now(), signed_off_by = ${signing.by}, signed_off_digest = content_digest
      WHERE date = ${date}::date`;
  await audit(tx, 'day.sign_off', date, signing);
  // Last, because a release takes the lock that all merges share.
  if (bookingsFrom !== null) await releaseSealedDay(tx, date, signing, { isCompared: true });
}

/** The greatest number of days that one request signs off. The form of so many days is smaller than the limit of a request. */
const MAX_DAYS_TO_SIGN = 366;

/** A day of a list, with `seenOf` the day as the person saw it. */
export interface SeenDay {
  readonly date: CivilDate;
  readonly seenDigest: string;
}

export interface SignOffOutcome {
  readonly date: CivilDate;
  /** Null: the day is signed off. */
  readonly refusal: SignOffRefusal | null;
}

/**
 * Signs the days off one by one, each in a separate transaction with the checks of `signOffDay`. A
 * refused day does not keep the others from being signed off. When the database does not answer, the
 * remaining days are refused without a try.
 * @returns the outcome of each day, in the order of the list
 * @throws InputError for no day, or more than `MAX_DAYS_TO_SIGN`
 */
export async function signOffDays(
  database: Database,
  days: readonly SeenDay[],
  signing: Signing & SigningRules,
): Promise<SignOffOutcome[]> {
  if (days.length === 0 || days.length > MAX_DAYS_TO_SIGN) {
    throw refusal('days_to_sign', { max: MAX_DAYS_TO_SIGN });
  }
  const outcomes: SignOffOutcome[] = [];
  for (const { date, seenDigest } of days) {
    const refusal =
      outcomes.at(-1)?.refusal === 'unavailable'
        ? 'unavailable'
        : await signOffDay(database, date, { ...signing, seenDigest }).then(() => null, refusalOf);
    outcomes.push({ date, refusal });
  }
  return outcomes;
}

/** @throws every error that is not about the day */
function refusalOf(error: unknown): SignOffRefusal {
  if (error instanceof StagingUnavailableError) return 'unavailable';
  const fault = error instanceof InputError ? error.context['fault'] : undefined;
  if (!namesIn('signOffs.refusals').includes(String(fault))) throw error;
  return fault as SignOffRefusal;
}

/**
 * Ends the seal of a date, so that it can be signed off again.
 * @throws InputError when the date is not signed off
 */
export function reopenDay(database: Database, date: CivilDate, decision: Decision): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    const { signedOffAt } = await lockCandidate(tx, date);
    if (signedOffAt === null) throw refusal('not_signed_off', { date });
    await audit(tx, 'day.reopen', date, decision);
    await endSeal(tx, date, decision);
    await tx.day.update({
      where: { date },
      data: { signedOffAt: null, signedOffBy: null, signedOffDigest: null },
      select: { date: true },
    });
  });
}

async function lockCandidate(tx: Transaction, date: CivilDate) {
  // Merges lock the day's row as well, so the digest below does not change before the commit. A separate statement:
  // only the next one sees the payment holds and checks that a merge has committed during the wait for the lock.
  await tx.$executeRaw`SELECT FROM conciliation.day WHERE date = ${date}::date FOR UPDATE`;
  const day = await tx.day.findUnique({ where: { date } });
  if (day === null) throw refusal('not_in_ledger', { date });
  return day;
}

async function endSeal(
  tx: Transaction,
  date: CivilDate,
  ending: { readonly by: string; readonly reason: string | null },
): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.sign_off
    SET ended_at = now(), ended_by = ${ending.by}, end_reason = ${ending.reason}
    WHERE date = ${date}::date AND ended_at IS NULL`;
}

async function audit(
  tx: Transaction,
  action: AuditAction,
  date: CivilDate,
  { by, reason }: Signing,
): Promise<void> {
  const day = await tx.day.findUniqueOrThrow({
    where: { date },
    select: { lastPullId: true, contentDigest: true, titleCount: true, signedOffDigest: true },
  });
  const { lastPullId: pullId, contentDigest, titleCount: titles, signedOffDigest } = day;
  const details = { contentDigest, titles, signedOffDigest };
  await recordAudit(tx, { actor: by, action, date, pullId, reason, details });
}

/**
 * AUTO_SIGN_OFF=clean makes the first seal of a day about which there is nothing to decide.
 *
 * True for a row of `day` that the program may seal: it has no obstacle but those for information, and neither a
 * decision nor an event in the audit log, as an earlier seal, a reopening, an acceptance of rejects or a release.
 */
const isClean = (rules: ObstacleRules) => Prisma.sql`
  NOT ${hasObstacle(Prisma.sql`day.date`, rules, PROGRAM_OBSTACLES)}
  AND NOT EXISTS (SELECT FROM conciliation.audit_entry AS entry WHERE entry.date = day.date
                    AND entry.action = ANY(${actionsOf('decision', 'event')}))`;

/**
 * Seals each clean day in a separate transaction, and releases its bookings.
 * @param range from the first date whose seals release bookings to the last date that is over
 * @returns the days, in date order
 */
export async function signCleanDays(
  database: Database,
  range: ReleaseRules & { readonly bookingsFrom: CivilDate; readonly to: CivilDate },
): Promise<CivilDate[]> {
  const { bookingsFrom, to } = range;
  const days = await database.prisma.$queryRaw<{ date: CivilDate }[]>`
    SELECT day.date::text AS date FROM conciliation.day
    WHERE day.date BETWEEN ${bookingsFrom}::date AND ${to}::date AND ${isClean(range)} ORDER BY day.date`;
  const signed: CivilDate[] = [];
  for (const { date } of days) {
    const isSigned = await database.prisma.$transaction(async (tx) => {
      // A separate statement: the following statement sees changes that a merge or a person has committed meanwhile.
      await tx.$executeRaw`SELECT FROM conciliation.day WHERE date = ${date}::date FOR UPDATE`;
      await compareDate(tx, date);
      const clean = await tx.$queryRaw<unknown[]>`
        SELECT FROM conciliation.day WHERE day.date = ${date}::date AND ${isClean(range)}`;
      if (clean.length === 0) return false;
      await sealDay(tx, date, {
        ...range,
        by: AUTO_SIGN_OFF_AUTHOR,
        reason: 'AUTO_SIGN_OFF=clean',
      });
      return true;
    }, RELEASE_TRANSACTION);
    if (isSigned) signed.push(date);
  }
  return signed;
}

/**
 * Accepts every open reject of a date: they stay out of the titles, and the day may be reconciled
 * without them. The same rejects in a later response stay accepted; `mergeRejects` has the exception.
 *
 * @returns how many rejects were accepted
 * @throws InputError when the date has no open rejects, or when it is signed off
 */
export function acceptRejects(
  database: Database,
  date: CivilDate,
  { by, reason }: Decision,
): Promise<number> {
  return database.prisma.$transaction(async (tx) => {
    await lockDay(tx, date);
    // Otherwise the person who signed the day could decide about it afterwards, without a second person.
    const { signedOffAt } = await tx.day.findUniqueOrThrow({
      where: { date },
      select: { signedOffAt: true },
    });
    if (signedOffAt !== null) throw refusal('rejects_sealed', { date });
    const accepted = await tx.$executeRaw`
        UPDATE conciliation.rejected_title
        SET status = 'accepted', decided_at = now(), decided_by = ${by}, reason = ${reason}
        WHERE date = ${date}::date AND status = 'open'`;
    if (accepted === 0) throw refusal('no_rejects', { date });
    const details = { rejects: accepted };
    const entry = { actor: by, action: 'rejects.accept', date, pullId: null, reason } as const;
    await recordAudit(tx, { ...entry, details });
    await settleDay(tx, date);
    return accepted;
  }, MERGE_TRANSACTION);
}
