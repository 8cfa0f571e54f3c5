import { type Static, Type } from 'typebox';
import type { Database } from '../../../base/database/database.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { instant, orNull } from '../../../console/api/schema-parts.ts';
import { readFilter } from '../../../console/list/filter.tsx';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import type { BankAccount } from '../../../core/title/destination.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { countAccountChanges } from '../../accounts/account-changes.sql.ts';
import { NO_ACCOUNT_FORM } from '../../accounts/bank-account.ts';
import { TITLE_FILTER } from '../../titles/pages/title-filters.sql.ts';
import { readTitleTotals } from '../../titles/pages/title-list.sql.ts';
import { accountPartyKey } from './provider-address.ts';
import { lastRequest, lastRequestColumns, Provider, providerColumns } from './provider-list.sql.ts';

/** What the API says about a provider. */
export const DescribedProvider = Type.Object({
  ...Provider.properties,
  type: orNull('string'),
  canAnticipate: orNull('boolean'),
  changedAt: instant,
  requests: Type.Integer({ minimum: 0, description: 'Requests that had the provider.' }),
});

/** A provider as the ERP states it. Personal data, except for the states and times. */
export interface ProviderDetail extends Readonly<Static<typeof DescribedProvider>> {
  readonly phones: unknown;
  readonly emailAddresses: unknown;
  readonly accounts: unknown;
  /** The platform's refusal. */
  readonly refusal: string | null;
}

/** Returns null for a provider that the ERP has not written. */
async function readProviderDetail(
  database: Database,
  externalId: string,
): Promise<ProviderDetail | null> {
  const [provider] = await database.prisma.$queryRaw<[ProviderDetail?]>`
    SELECT ${providerColumns}, type, can_anticipate AS "canAnticipate", phones,
           email_addresses AS "emailAddresses", accounts, changed_at AS "changedAt",
           CASE WHEN sync_state = 'rejected' THEN last_error END AS refusal,
           (SELECT count(*) FROM conciliation.provider_batch
            WHERE external_ids @> ARRAY[${externalId}])::float8 AS requests,
           ${lastRequestColumns}
    FROM conciliation.provider provider
    LEFT JOIN LATERAL ${lastRequest(Prisma.sql`provider.external_id`)} ON true
    WHERE external_id = ${externalId}`;
  return provider ?? null;
}

/**
 * Returns a supplier with the numbers of its titles, accounts and changed accounts; null when neither the ERP nor a
 * title names it.
 */
export async function readSupplier({ database }: ConsoleParts, externalId: string) {
  const partyKey = accountPartyKey(externalId);
  const { filter } = readFilter(TITLE_FILTER, { providerId: externalId });
  const [provider, titleCount, accountCount, changes] = await Promise.all([
    readProviderDetail(database, externalId),
    readTitleTotals(database.prisma, filter),
    countSeenAccounts(database, partyKey),
    countAccountChanges(database.prisma, { state: 'all', providerKey: partyKey }),
  ]);
  const changeCount = changes.rows;
  return provider === null && titleCount.titles + accountCount + changeCount === 0
    ? null
    : { partyKey, provider, titleCount, accountCount, changeCount };
}

/** A bank account that titles name for a provider. Personal data. */
export interface SeenAccount extends BankAccount {
  readonly lastAcceptedDate: CivilDate;
  readonly firstSeenAt: Date;
}

/** The accounts of a provider, each in the writing that was seen last. Titles without an account are left out. */
const accountsOf = (partyKey: string) => Prisma.sql`
  SELECT DISTINCT ON (account_hash) *, min(first_seen_at) OVER (PARTITION BY account_hash) AS seen_at
  FROM conciliation.party_account
  WHERE kind = 'provider' AND party_key = ${partyKey} AND normal_form <> ${NO_ACCOUNT_FORM}
  ORDER BY account_hash, last_accepted_date DESC, last_seen_at DESC, writing_hash`;

async function countSeenAccounts(database: Database, partyKey: string): Promise<number> {
  const [{ count }] = await database.prisma.$queryRaw<[{ count: number }]>`
    SELECT count(*)::float8 AS count FROM (${accountsOf(partyKey)}) AS account`;
  return count;
}

/** Returns a part of the provider's accounts, the last seen first. */
export function readSeenAccounts(
  database: Database,
  partyKey: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<SeenAccount[]> {
  return database.prisma.$queryRaw<SeenAccount[]>`
    SELECT bank, agency, agency_digit AS "agencyDigit", account, account_digit AS "accountDigit", destination,
           last_accepted_date::text AS "lastAcceptedDate", seen_at AS "firstSeenAt"
    FROM (${accountsOf(partyKey)}) AS account
    ORDER BY last_accepted_date DESC, account_hash OFFSET ${offset} LIMIT ${limit}`;
}
