import { recordAudit } from '../audit/audit.ts';
import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { InputError } from '../runtime/errors.ts';

/** A bank account as the titles state it. Personal data. */
export interface BankAccount {
  readonly bank: string | null;
  readonly agency: string | null;
  readonly agencyDigit: string | null;
  readonly account: string;
  readonly accountDigit: string | null;
}

/**
 * A change from the bank account last seen to another one. Personal data, except for the ids, the
 * kind and the dates.
 */
export interface AccountChange {
  readonly id: number;
  readonly kind: 'provider' | 'financial_agent';
  readonly partyKey: string;
  readonly before: BankAccount;
  readonly after: BankAccount;
  readonly acceptedDate: CivilDate;
  readonly titleId: number;
  readonly pullId: number;
  readonly detectedAt: Date;
}

/** Returns the changes without an acknowledgement, oldest first. */
export async function readUnacknowledgedAccountChanges(
  database: Database,
  limit: number,
): Promise<AccountChange[]> {
  const changes = await database.prisma.accountChange.findMany({
    where: { acknowledgedAt: null },
    orderBy: { id: 'asc' },
    take: limit,
  });
  return changes.map((change) => ({
    id: Number(change.id),
    kind: change.kind as AccountChange['kind'],
    partyKey: change.partyKey,
    before: change.before as unknown as BankAccount,
    after: change.after as unknown as BankAccount,
    acceptedDate: change.acceptedDate,
    titleId: Number(change.titleId),
    pullId: Number(change.pullId),
    detectedAt: change.detectedAt,
  }));
}

/**
 * Records that a person has looked into a change.
 * @throws InputError when the change does not exist or is already acknowledged
 */
export function acknowledgeAccountChange(
  database: Database,
  id: bigint,
  decision: { readonly by: string; readonly reason: string },
): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    const [acknowledged] = await tx.$queryRaw<[{ date: CivilDate; pullId: bigint }?]>`
      UPDATE conciliation.account_change
      SET acknowledged_at = now(), acknowledged_by = ${decision.by}, reason = ${decision.reason}
      WHERE id = ${id} AND acknowledged_at IS NULL
      RETURNING accepted_date::text AS date, pull_id AS "pullId"`;
    if (acknowledged === undefined) {
      throw new InputError(`account change ${id} does not exist or is acknowledged already`, {
        context: { accountChangeId: String(id) },
      });
    }
    await recordAudit(tx, {
      actor: decision.by,
      action: 'account_change.acknowledge',
      ...acknowledged,
      reason: decision.reason,
      details: { accountChangeId: Number(id) },
    });
  });
}
