import { recordAudit } from '../audit/audit.ts';
import type { Database } from '../database/database.ts';
import { takeLock } from '../database/program-lock.sql.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { type Actor, identityOf } from '../domain/person.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { InputError } from '../runtime/errors.ts';
import { releasePayments } from './payment-holds.sql.ts';

/** A bank account as the titles state it. Personal data. */
export interface BankAccount {
  readonly bank: string | null;
  readonly agency: string | null;
  readonly agencyDigit: string | null;
  /** Null: the party was erased. */
  readonly account: string | null;
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
  /** Whether the key is a tax identifier and not the ERP's key of a provider. */
  readonly isKeyTaxId: boolean;
  /** The name of the agent in the title, or of the provider in the ERP; null: not known. */
  readonly partyName: string | null;
  readonly before: BankAccount;
  readonly after: BankAccount;
  readonly acceptedDate: CivilDate;
  readonly titleId: number;
  readonly orderUid: string | null;
  readonly pullId: number;
  readonly detectedAt: Date;
  readonly acknowledgedAt: Date | null;
  readonly acknowledgedBy: string | null;
  /** The findings of that person. */
  readonly reason: string | null;
}

export interface AccountChangeFilter {
  /** Null: both. */
  readonly isAcknowledged: boolean | null;
  /** The external id of a provider; null: every party. */
  readonly providerKey: string | null;
}

/** Returns the selected changes: the oldest first where all are open, otherwise the newest first. */
export function readAccountChanges(
  database: Database,
  filter: AccountChangeFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<AccountChange[]> {
  const order = filter.isAcknowledged === false ? Prisma.sql`ASC` : Prisma.sql`DESC`;
  return database.prisma.$queryRaw<AccountChange[]>`
    SELECT change.id::float8 AS id, kind, party_key AS "partyKey",
           kind = 'financial_agent'
             OR nullif(btrim(title.provider_external_id), '') IS NULL AS "isKeyTaxId",
           CASE kind WHEN 'financial_agent' THEN title.financial_agent_name
                     ELSE provider.name END AS "partyName",
           before, after, change.accepted_date::text AS "acceptedDate",
           title_id::float8 AS "titleId", title.order_uid AS "orderUid",
           pull_id::float8 AS "pullId", detected_at AS "detectedAt",
           acknowledged_at AS "acknowledgedAt", acknowledged_by AS "acknowledgedBy", reason
    FROM (SELECT * FROM conciliation.account_change WHERE ${conditionOf(filter)}
          ORDER BY id ${order} OFFSET ${offset} LIMIT ${limit}) AS change
    LEFT JOIN conciliation.title title ON title.id = change.title_id
    LEFT JOIN conciliation.provider provider
      ON change.kind = 'provider' AND provider.external_id = change.party_key
    ORDER BY change.id ${order}`;
}

export async function countAccountChanges(
  database: Database,
  filter: AccountChangeFilter,
): Promise<number> {
  const [{ count }] = await database.prisma.$queryRaw<[{ count: number }]>`
    SELECT count(*)::float8 AS count FROM conciliation.account_change
    WHERE ${conditionOf(filter)}`;
  return count;
}

function conditionOf({ isAcknowledged, providerKey }: AccountChangeFilter): Prisma.Sql {
  const acknowledged =
    isAcknowledged === null
      ? Prisma.sql`true`
      : isAcknowledged
        ? Prisma.sql`acknowledged_at IS NOT NULL`
        : Prisma.sql`acknowledged_at IS NULL`;
  return providerKey === null
    ? acknowledged
    : Prisma.sql`${acknowledged} AND kind = 'provider' AND party_key = ${providerKey}`;
}

/**
 * Records that a person has looked into a change. The payments that the change held are released, which is a
 * change of each title in `title_feed`. The audit log has an entry for each date that has such titles: its author
 * is not the second person for these dates.
 * @throws InputError when the change does not exist or is already acknowledged
 */
export function acknowledgeAccountChange(
  database: Database,
  id: bigint,
  decision: Actor & { readonly reason: string },
): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    // As a merge does before it holds payments.
    await takeLock(tx, 'closing');
    const [acknowledged] = await tx.$queryRaw<[{ date: CivilDate; pullId: bigint }?]>`
      UPDATE conciliation.account_change
      SET acknowledged_at = now(), acknowledged_by = ${decision.by}, reason = ${decision.reason}
      WHERE id = ${id} AND acknowledged_at IS NULL
      RETURNING accepted_date::text AS date, pull_id AS "pullId"`;
    if (acknowledged === undefined) {
      throw new InputError(`account change ${id} does not exist or is acknowledged already`, {
        context: { fault: 'account_change', accountChangeId: String(id) },
      });
    }
    const { date: changeDate, pullId } = acknowledged;
    const dates = await releasePayments(tx, id);
    for (const date of new Set([changeDate, ...dates])) {
      await recordAudit(tx, {
        actor: decision.by,
        action: 'account_change.acknowledge',
        date,
        pullId,
        reason: decision.reason,
        details: { accountChangeId: Number(id), countsAs: identityOf(decision) },
      });
    }
  });
}
