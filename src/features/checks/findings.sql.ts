import { type Static, Type } from 'typebox';
import { type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { refusal } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { CHECK_CODES, type CheckCode, type FindingSeverity } from '../../base/values/checks.ts';
import {
  amount,
  date,
  dateOrNull,
  id,
  instant,
  instantOrNull,
  orNull,
  words,
} from '../../console/api/schema-parts.ts';
import type { DayObstacle } from '../../console/day-obstacle.ts';
import { anyOf, asTabs, choice, dateField, type FilterOf } from '../../console/list/filter.tsx';
import type { ListTotal, Place } from '../../console/list/list.tsx';
import { lockDay } from '../../core/ledger/day-ledger.sql.ts';
import { settleDay } from '../../core/merge/decisions.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { CHECK_TRANSACTION } from './check-day.sql.ts';

/** `closed`: the title no longer has the fault. `resolved`: a person has resolved the finding. */
const FINDING_STATES = ['open', 'resolved', 'closed'] as const;

const SEVERITIES = ['info', 'review'] as const satisfies readonly FindingSeverity[];

export const FINDING_FILTER = {
  state: asTabs(
    choice('findings.state', [...FINDING_STATES, 'all'], 'open', (state) =>
      state === 'all' ? 'findings.anyState' : `findings.states.${state}`,
    ),
  ),
  date: dateField('days.date'),
  check: anyOf('findings.check', CHECK_CODES, (check) => `checks.names.${check}`),
  severity: anyOf('findings.severity', SEVERITIES, (word) => `findings.severities.${word}`),
};
export type FindingFilter = FilterOf<typeof FINDING_FILTER>;

/** A finding with the title that has the fault. */
export const Finding = Type.Object({
  id,
  code: words(CHECK_CODES),
  severity: words(SEVERITIES),
  state: words(FINDING_STATES),
  date,
  titleId: Type.Integer(),
  orderUid: Type.String(),
  providerExternalId: orNull('string'),
  dueDate: dateOrNull,
  originalValue: amount,
  detail: Type.Record(Type.String(), Type.String(), {
    description:
      'What was compared: field, value, limit and other title, as far as the check has them.',
  }),
  foundAt: instant,
  resolvedAt: instantOrNull,
  resolvedBy: orNull('string'),
  reason: orNull('string'),
});
export type Finding = Readonly<Static<typeof Finding>>;

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

export const checkObstacles = {
  /** The checks did not run on the present content, or have to run again. */
  not_checked: {
    keeps: ['sign'],
    rows: (date) => Prisma.sql`
      SELECT NULL, NULL, NULL, NULL WHERE NOT EXISTS (
        SELECT FROM conciliation.day AS checked JOIN conciliation.day_check AS done USING (date, content_digest)
        WHERE checked.date = ${date} AND done.rules <> '')`,
  },
  /** Open findings of a check. Those that a person has to resolve also keep the day from being reconciled. */
  finding: {
    keeps: [],
    rows: (date) => Prisma.sql`
      SELECT finding.code, count(*), sum(title.original_value), NULL
      FROM conciliation.check_finding AS finding JOIN conciliation.title AS title ON title.id = finding.title_id
      WHERE finding.accepted_date = ${date} AND ${isOpen} GROUP BY finding.code`,
    href: (date, kind) => `/findings?date=${date}&check=${kind}`,
  },
} as const satisfies Record<string, DayObstacle>;

const selected = ({ state: wanted, check, date, severity }: FindingFilter) => Prisma.sql`
  (${wanted} = 'all' OR ${state} = ${wanted}::text)
  AND (${check}::text IS NULL OR finding.code = ${check}::text)
  AND (${severity}::text IS NULL OR finding.severity = ${severity}::text)
  AND (${date}::date IS NULL OR finding.accepted_date = ${date}::date)`;

const columns = Prisma.sql`
  finding.id::float8 AS id, finding.code, finding.severity, ${state} AS state,
  finding.accepted_date::text AS date, finding.title_id::float8 AS "titleId",
  title.order_uid AS "orderUid", title.provider_external_id AS "providerExternalId",
  title.anticipated_due_date::text AS "dueDate", title.original_value::text AS "originalValue",
  finding.detail, finding.found_at AS "foundAt", finding.resolved_at AS "resolvedAt",
  finding.resolved_by AS "resolvedBy", finding.reason`;

export async function countFindings(db: Transaction, filter: FindingFilter): Promise<ListTotal> {
  const [total] = await db.$queryRaw<[{ rows: number }]>`
    SELECT count(*)::int AS rows FROM conciliation.check_finding AS finding WHERE ${selected(filter)}`;
  return total;
}

/** Returns a part of the selected findings: the newest date first, then by check and title. */
export function readFindings(
  db: Transaction,
  filter: FindingFilter,
  { offset, limit }: Place,
): Promise<Finding[]> {
  return db.$queryRaw<Finding[]>`
    SELECT ${columns}
    FROM conciliation.check_finding AS finding JOIN conciliation.title ON title.id = finding.title_id
    WHERE ${selected(filter)}
    ORDER BY finding.accepted_date DESC, finding.code, finding.title_id, finding.id
    OFFSET ${offset}::int LIMIT ${limit}::int`;
}

export function readTitleFindings(database: Database, titleId: bigint): Promise<Finding[]> {
  return database.prisma.$queryRaw<Finding[]>`
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
    if (resolved === 0) throw refusal('no_findings', { date });
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

/**
 * Rows (id): the findings of a date that are not as the newest check of its present content leaves them, of its
 * severity, and not closed while the title has the fault. After a sign-off, the checks do not run.
 */
export const alteredFindings = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT id
  FROM (
    SELECT finding.*, substring(done.rules FROM code || ':' || version || ':([a-z]+)') AS given
    FROM conciliation.check_finding AS finding
    JOIN conciliation.day ON day.date = accepted_date
    JOIN conciliation.day_check AS done USING (date, content_digest)
    JOIN conciliation.title ON title.id = title_id AND title.content_hash = finding.content_hash
    WHERE finding.accepted_date = ${date}::date AND resolved_at IS NULL AND done.rules <> ''
      AND (signed_off_at IS NULL OR restated_after_sign_off) AND title.status = 'current' AND title.erased_at IS NULL
  ) AS finding
  WHERE CASE WHEN closed_at IS NULL THEN severity IS DISTINCT FROM given
             -- Of these checks, the fault follows from the content of the title alone.
             ELSE code IN ('due_before_acceptance', 'value_not_positive', 'tax_id_invalid', 'agent_is_party')
                  AND given <> 'off' END`;
