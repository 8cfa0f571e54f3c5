import { type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { CheckCode, FindingSeverity } from '../../base/values/checks.ts';
import { lockDay, settleDay } from '../../core/ledger/day-ledger.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { CHECK_TRANSACTION } from './check-day.sql.ts';

/** `closed`: the title no longer has the fault. `resolved`: a person has resolved the finding. */
export const FINDING_STATES = ['open', 'resolved', 'closed'] as const;
type FindingState = (typeof FINDING_STATES)[number];

export interface FindingFilter {
  /** Null: all. */
  readonly state: FindingState | null;
  readonly code: CheckCode | null;
  readonly date: CivilDate | null;
  readonly severity: FindingSeverity | null;
}

/** A finding with the title that has the fault. */
export interface FindingRow {
  readonly id: number;
  readonly code: CheckCode;
  readonly severity: FindingSeverity;
  readonly state: FindingState;
  readonly date: CivilDate;
  readonly titleId: number;
  readonly orderUid: string;
  readonly providerExternalId: string | null;
  readonly dueDate: CivilDate | null;
  /** Decimal text, exact. */
  readonly originalValue: string;
  /** The values that the check compared; see the column `detail`. */
  readonly detail: Readonly<Record<string, string>>;
  readonly foundAt: Date;
  readonly resolvedAt: Date | null;
  readonly resolvedBy: string | null;
  readonly reason: string | null;
}

/** The findings of one check on one date. */
export interface FindingGroup {
  readonly date: CivilDate;
  readonly code: CheckCode;
  readonly severity: FindingSeverity;
  readonly findings: number;
  /** The greatest id. A resolution covers the findings up to it, so that later ones are not resolved unseen. */
  readonly newestId: number;
}

const state = Prisma.sql`
  CASE WHEN finding.resolved_at IS NOT NULL THEN 'resolved'
       WHEN finding.closed_at IS NOT NULL THEN 'closed' ELSE 'open' END`;

const isOpen = Prisma.sql`finding.closed_at IS NULL AND finding.resolved_at IS NULL`;

const selected = ({ state: wanted, code, date, severity }: FindingFilter) => Prisma.sql`
  (${wanted}::text IS NULL OR ${state} = ${wanted}::text)
  AND (${code}::text IS NULL OR finding.code = ${code}::text)
  AND (${severity}::text IS NULL OR finding.severity = ${severity}::text)
  AND (${date}::date IS NULL OR finding.accepted_date = ${date}::date)`;

const columns = Prisma.sql`
  finding.id::float8 AS id, finding.code, finding.severity, ${state} AS state,
  finding.accepted_date::text AS date, finding.title_id::float8 AS "titleId",
  title.order_uid AS "orderUid", title.provider_external_id AS "providerExternalId",
  title.anticipated_due_date::text AS "dueDate", title.original_value::text AS "originalValue",
  finding.detail, finding.found_at AS "foundAt", finding.resolved_at AS "resolvedAt",
  finding.resolved_by AS "resolvedBy", finding.reason`;

export async function countFindings(database: Database, filter: FindingFilter): Promise<number> {
  const [{ count }] = await database.prisma.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM conciliation.check_finding AS finding WHERE ${selected(filter)}`;
  return count;
}

/** Returns a part of the selected findings: the newest date first, then by check and title. */
export function readFindings(
  database: Database,
  filter: FindingFilter,
  page: { readonly offset: number; readonly limit: number },
): Promise<FindingRow[]> {
  return database.prisma.$queryRaw<FindingRow[]>`
    SELECT ${columns}
    FROM conciliation.check_finding AS finding JOIN conciliation.title ON title.id = finding.title_id
    WHERE ${selected(filter)}
    ORDER BY finding.accepted_date DESC, finding.code, finding.title_id, finding.id
    OFFSET ${page.offset}::int LIMIT ${page.limit}::int`;
}

/** Returns the findings of a title, the newest first. */
export function readTitleFindings(database: Database, titleId: bigint): Promise<FindingRow[]> {
  return database.prisma.$queryRaw<FindingRow[]>`
    SELECT ${columns}
    FROM conciliation.check_finding AS finding JOIN conciliation.title ON title.id = finding.title_id
    WHERE finding.title_id = ${titleId} ORDER BY finding.id DESC`;
}

/** Returns the open findings by date and check: those for a person first, then the newest date. */
export function readOpenFindingGroups(
  database: Database,
  filter: Pick<FindingFilter, 'date'>,
): Promise<FindingGroup[]> {
  return database.prisma.$queryRaw<FindingGroup[]>`
    SELECT finding.accepted_date::text AS date, finding.code, finding.severity,
           count(*)::int AS findings, max(finding.id)::float8 AS "newestId"
    FROM conciliation.check_finding AS finding
    WHERE ${isOpen} AND (${filter.date}::date IS NULL OR finding.accepted_date = ${filter.date}::date)
    GROUP BY finding.accepted_date, finding.code, finding.severity
    ORDER BY finding.severity = 'review' DESC, finding.accepted_date DESC, finding.code`;
}

/** The findings that a person resolves: all of one check on a date that the person has seen, or one. */
export interface SeenFindings {
  readonly date: CivilDate;
  readonly code: CheckCode;
  /** The greatest id that the person has seen. */
  readonly newestId: bigint;
  /** Null: each title. */
  readonly titleId: bigint | null;
}

/**
 * Resolves open findings. They stay resolved while their titles have the same content. The day is reconciled when
 * nothing else is open.
 * @returns how many were resolved
 * @throws InputError if no finding is open
 */
export function resolveFindings(
  database: Database,
  seen: SeenFindings,
  decision: Decision,
): Promise<number> {
  const { date, code, newestId, titleId } = seen;
  return database.prisma.$transaction(async (tx) => {
    await lockDay(tx, date);
    const resolved = await tx.$executeRaw`
      UPDATE conciliation.check_finding AS finding
      SET resolved_at = now(), resolved_by = ${decision.by}, reason = ${decision.reason}
      WHERE finding.accepted_date = ${date}::date AND finding.code = ${code} AND finding.id <= ${newestId}
        AND (${titleId}::bigint IS NULL OR finding.title_id = ${titleId}::bigint) AND ${isOpen}`;
    if (resolved === 0) {
      throw new InputError(`${date} has no open finding of the check ${code}`, {
        context: { fault: 'no_findings', date },
      });
    }
    await recordAudit(tx, {
      actor: decision.by,
      action: 'findings.resolve',
      date,
      reason: decision.reason,
      details: {
        check: code,
        findings: resolved,
        ...(titleId !== null && { title: Number(titleId) }),
      },
    });
    await settleDay(tx, date);
    return resolved;
  }, CHECK_TRANSACTION);
}
