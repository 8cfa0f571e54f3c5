import type { Prisma } from '../../generated/prisma/client.ts';
import type { Transaction } from '../database/database.ts';
import type { CivilDate } from '../values/business-day.ts';

/** The person who makes a decision, and the reason. The audit log keeps both. */
export interface Decision {
  /** As the audit log names the person. */
  readonly by: string;
  readonly reason: string;
}

/** What an entry can be about. The console has a text for each. */
export type AuditAction =
  | 'account_change.confirm'
  | 'account_change.refuse'
  | 'account_change.return'
  | 'account_change.reveal'
  | 'agent.confirm'
  | 'agent.end'
  | 'backfill.cancel'
  | 'backfill.create'
  | 'backfill.resume'
  | 'bookings.consumer'
  | 'bookings.difference'
  | 'bookings.export'
  | 'bookings.receipts'
  | 'bookings.start'
  | 'break.resolve'
  | 'company.confirm'
  | 'company.end'
  | 'database.restored'
  | 'day.reopen'
  | 'day.sign_off'
  | 'drift.acknowledge'
  | 'export'
  | 'findings.acknowledge'
  | 'findings.resolve'
  | 'key.add'
  | 'key.revoke'
  | 'list.export'
  | 'match.make'
  | 'match.undo'
  | 'month.evidence'
  | 'month.seal'
  | 'party.erase'
  | 'party.erased'
  | 'party.lift'
  | 'payables.import'
  | 'provider.reveal'
  | 'providers.import'
  | 'providers.invalid'
  | 'providers.push'
  | 'pull.release'
  | 'pull.request'
  | 'rejects.accept'
  | 'rejects.reveal'
  | 'restated.export'
  | 'retention.begin'
  | 'retention.end'
  | 'schedule.export'
  | 'schedule.reveal'
  | 'session.end'
  | 'session.end_others'
  | 'session.limited'
  | 'session.refused'
  | 'session.refused_account'
  | 'session.start'
  | 'settings.change'
  | 'start_date.set'
  | 'title.reveal'
  | 'user.add'
  | 'user.bind'
  | 'user.change'
  | 'user.link'
  | 'user.own_password'
  | 'user.password'
  | 'user.recovery_code'
  | 'user.second_factor';

export interface AuditRecord {
  readonly actor: string;
  readonly action: AuditAction;
  readonly date?: CivilDate | null;
  readonly pullId?: bigint | null;
  readonly reason?: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Writes an entry of the audit log. An action in a transaction passes that transaction. */
export async function recordAudit(
  client: Pick<Transaction, 'auditEntry'>,
  { actor, action, date = null, pullId = null, reason = null, details }: AuditRecord,
): Promise<void> {
  const data = { actor, action, date, pullId, reason };
  await client.auditEntry.create({
    data: details === undefined ? data : { ...data, details: details as Prisma.InputJsonObject },
    select: { id: true },
  });
}
