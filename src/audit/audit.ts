import type { Database, Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';

/** The person who makes a decision, and the reason. The audit log keeps both. */
export interface Decision {
  readonly by: string;
  readonly reason: string;
}

export interface AuditRecord {
  readonly actor: string;
  readonly action: string;
  readonly date?: CivilDate | null;
  readonly pullId?: bigint | null;
  readonly reason?: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Notes who did what; with the transaction of the deed where there is one. */
export async function recordAudit(
  client: Pick<Transaction, '$executeRaw'>,
  { actor, action, date = null, pullId = null, reason = null, details }: AuditRecord,
): Promise<void> {
  await client.$executeRaw`
    INSERT INTO conciliation.audit_entry (actor, action, date, pull_id, reason, details)
    VALUES (${actor}, ${action}, ${date}::date, ${pullId}::bigint, ${reason},
            ${details === undefined ? null : JSON.stringify(details)}::jsonb)`;
}

export interface AuditRow {
  readonly id: number;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly date: CivilDate | null;
  readonly pullId: number | null;
  readonly reason: string | null;
  readonly details: unknown;
}

/** What was done, newest first. @param before only entries with a smaller id; null: from the newest */
export function readAuditLog(
  database: Database,
  page: {
    readonly before: bigint | null;
    readonly limit: number;
    readonly date?: CivilDate | null;
  },
): Promise<AuditRow[]> {
  const date = page.date ?? null;
  return database.prisma.$queryRaw<AuditRow[]>`
    SELECT id::float8 AS id, at, actor, action, date::text AS date, pull_id::float8 AS "pullId",
           reason, details
    FROM conciliation.audit_entry
    WHERE id < coalesce(${page.before}::bigint, 9223372036854775807)
      AND (${date}::date IS NULL OR date = ${date}::date)
    ORDER BY id DESC LIMIT ${page.limit}`;
}
