/**
 * Erases the personal data of a party from every table: docs/privacy.md. Titles, amounts, dates,
 * hashes and seals stay. A first transaction adds the party to the list of erased parties. From
 * then on every merge removes the party's data from its rows (`eraseErased`). A second transaction
 * can therefore search all titles without delaying merges, and finds all data of the party.
 */
import { randomBytes } from 'node:crypto';
import { recordAudit } from '../audit/audit.ts';
import type { Database, Transaction } from '../database/database.ts';
import { ROW_HASH } from '../database/title-hashes.sql.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { InputError } from '../runtime/errors.ts';
import {
  ASSIGNMENTS,
  keysInText,
  PARTY_COLUMNS,
  PARTY_KEYS,
  taxIdOf,
} from './erased-parties.sql.ts';

/** The identification of the party: exactly one of the two. */
export type NamedParty =
  | { readonly taxId: string; readonly externalId: null }
  | { readonly taxId: null; readonly externalId: string };

export interface ErasureRequest {
  readonly party: NamedParty;
  readonly by: string;
  readonly reason: string;
  /** Rolls everything back after counting. */
  readonly isDryRun: boolean;
}

/** Number of rows with erased data, by table. */
export interface ErasureCounts {
  readonly bookingLines: number;
  readonly titles: number;
  readonly revisions: number;
  readonly partyAccounts: number;
  readonly accountChanges: number;
  readonly rejects: number;
  readonly providers: number;
  readonly providerBatches: number;
  readonly payables: number;
  readonly payableRejects: number;
}

export interface ErasureReport {
  /** `erased_party.id`; null in a dry run for a party that is not on the list. */
  readonly partyId: number | null;
  /** Replaces the party's names. */
  readonly pseudonym: string | null;
  readonly counts: ErasureCounts;
}

/** The names of the party in the tables. Personal data. */
interface PartyNames {
  readonly taxIds: readonly string[];
  readonly externalIds: readonly string[];
}

/** The longest wait for running merges. Other merges wait during this time. */
const LOCK_TIMEOUT = '30s';
const TRANSACTION = { timeout: 86_400_000, maxWait: 30_000 } as const;

/**
 * May be called again for the same party, and then erases the remaining data.
 * @throws InputError when no row names the party, or an external id belongs to several tax
 * identifiers
 * @throws StagingUnavailableError when running merges do not end in time; the call can be repeated
 */
export async function eraseParty(
  database: Database,
  request: ErasureRequest,
): Promise<ErasureReport> {
  const given = await toNames(database, request.party);
  const list = (names: PartyNames) =>
    request.isDryRun
      ? findListed(database.prisma, keysOf(names))
      : listParty(database, names, request);
  const listed = await list(given);
  // Once the tax identifier is on the list, no title gives the party another number.
  const names = await addExternalIds(database, given);
  if (names.externalIds.length > given.externalIds.length) await list(names);
  const partyId = listed?.id ?? null;
  const counts = await eraseEverywhere(database, names, request, partyId);
  const isNowhere = Object.values(counts).every((count) => count === 0);
  if (isNowhere && (listed === null || listed.isNew)) {
    if (partyId !== null) await endErasure(database.prisma, partyId);
    throw new InputError('no title, provider, payable or rejected title names this party');
  }
  return {
    partyId: partyId === null ? null : Number(partyId),
    pseudonym: partyId === null ? null : pseudonymOf(partyId),
    counts,
  };
}

/**
 * Ends an erasure: later answers about the party are stored unchanged. Erased data returns only if
 * the platform restates it.
 * @throws InputError when the erasure does not exist or has ended
 */
export function liftErasure(
  database: Database,
  partyId: bigint,
  decision: { readonly by: string; readonly reason: string },
): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    const lifted = await endErasure(tx, partyId);
    if (lifted === 0) throw new InputError(`there is no erased party ${partyId}, or it was lifted`);
    await recordAudit(tx, {
      actor: decision.by,
      action: 'party.lift',
      reason: decision.reason,
      details: { erasedPartyId: Number(partyId) },
    });
  });
}

function pseudonymOf(partyId: bigint): string {
  return `erased-${partyId}`;
}

function keysOf({ taxIds, externalIds }: PartyNames): string[] {
  return [
    ...taxIds.map((taxId) => `tax_id:${taxId}`),
    ...externalIds.map((externalId) => `external_id:${externalId}`),
  ];
}

async function toNames(database: Database, party: NamedParty): Promise<PartyNames> {
  if (party.taxId !== null) return { taxIds: [party.taxId], externalIds: [] };
  const taxIds = await taxIdsOf(database, party.externalId);
  if (taxIds.length > 1) {
    throw new InputError(
      `the external id belongs to ${taxIds.length} tax identifiers; name the party with --tax-id-file`,
    );
  }
  return { taxIds, externalIds: [party.externalId] };
}

async function addExternalIds(database: Database, names: PartyNames): Promise<PartyNames> {
  const externalIds = new Set(names.externalIds);
  for (const taxId of names.taxIds) {
    for (const externalId of await externalIdsOf(database, taxId)) externalIds.add(externalId);
  }
  return { ...names, externalIds: [...externalIds] };
}

async function taxIdsOf({ prisma }: Database, externalId: string): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ taxId: string }[]>`
    SELECT DISTINCT ${taxIdOf('provider_identification')} AS "taxId" FROM conciliation.title
    WHERE provider_external_id = ${externalId}
      AND ${taxIdOf('provider_identification')} IS NOT NULL
    UNION
    SELECT tax_id FROM conciliation.provider WHERE external_id = ${externalId} AND tax_id IS NOT NULL`;
  return rows.map(({ taxId }) => taxId);
}

/** Returns the provider's numbers that no other tax identifier has. */
async function externalIdsOf({ prisma }: Database, taxId: string): Promise<string[]> {
  // Reads all titles, without a time limit.
  const [, rows] = await prisma.$transaction([
    prisma.$executeRaw`SET LOCAL statement_timeout = 0`,
    prisma.$queryRaw<{ externalId: string }[]>`
    WITH used AS (
      SELECT DISTINCT btrim(provider_external_id) AS external_id FROM conciliation.title
      WHERE ${taxIdOf('provider_identification')} = ${taxId}
      UNION
      SELECT external_id FROM conciliation.provider WHERE tax_id = ${taxId}
    )
    SELECT external_id AS "externalId" FROM used
    WHERE external_id <> ''
      AND NOT EXISTS (SELECT FROM conciliation.title
                      WHERE provider_external_id = used.external_id
                        AND ${taxIdOf('provider_identification')} <> ${taxId})
      AND NOT EXISTS (SELECT FROM conciliation.provider other
                      WHERE other.external_id = used.external_id AND other.tax_id <> ${taxId})`,
  ]);
  return rows.map(({ externalId }) => externalId);
}

interface ListedParty {
  readonly id: bigint;
  readonly isNew: boolean;
}

async function findListed(
  client: Pick<Transaction, '$queryRaw'>,
  keys: readonly string[],
): Promise<ListedParty | null> {
  const [party] = await client.$queryRaw<[{ id: bigint }?]>`
    SELECT party.id FROM conciliation.erased_party AS party, unnest(${keys}::text[]) AS named (key)
    WHERE party.ended_at IS NULL
      AND sha256(party.salt || convert_to(named.key, 'UTF8')) = ANY(party.key_hashes)
    ORDER BY party.id LIMIT 1`;
  return party === undefined ? null : { id: party.id, isNew: false };
}

/** Adds the party to the list, or keys to its row. */
function listParty(
  database: Database,
  names: PartyNames,
  { by, reason }: ErasureRequest,
): Promise<ListedParty> {
  const keys = keysOf(names);
  return database.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
    // Waits for every merge that has read the list: see `hasErasedParties`.
    await tx.$executeRaw`LOCK TABLE conciliation.erased_party IN ACCESS EXCLUSIVE MODE`;
    const known = await findListed(tx, keys);
    if (known !== null) {
      await tx.$executeRaw`
        UPDATE conciliation.erased_party party
        SET key_hashes = ARRAY(
          SELECT unnest(party.key_hashes)
          UNION SELECT sha256(party.salt || convert_to(key, 'UTF8')) FROM unnest(${keys}::text[]) AS key)
        WHERE id = ${known.id}`;
      return known;
    }
    const [party] = await tx.$queryRaw<[{ id: bigint }]>`
      INSERT INTO conciliation.erased_party (salt, key_hashes)
      SELECT salt, ARRAY(SELECT sha256(salt || convert_to(key, 'UTF8')) FROM unnest(${keys}::text[]) AS key)
      FROM (SELECT ${randomBytes(32)}::bytea AS salt) AS secret
      RETURNING id`;
    const details = { erasedPartyId: Number(party.id) };
    await recordAudit(tx, { actor: by, action: 'party.erase', reason, details });
    return { id: party.id, isNew: true };
  }, TRANSACTION);
}

function endErasure(client: Pick<Transaction, '$executeRaw'>, partyId: bigint): Promise<number> {
  return client.$executeRaw`
    UPDATE conciliation.erased_party SET ended_at = now()
    WHERE id = ${partyId} AND ended_at IS NULL`;
}

class Undo extends Error {}

async function eraseEverywhere(
  database: Database,
  names: PartyNames,
  { by, isDryRun, reason }: ErasureRequest,
  partyId: bigint | null,
): Promise<ErasureCounts> {
  const pseudonym = pseudonymOf(partyId ?? 0n);
  let counts: ErasureCounts | null = null;
  await database.prisma
    .$transaction(async (tx) => {
      // `erasePartyTotals` marks the dates.
      await tx.$executeRaw`
        SELECT set_config('statement_timeout', '0', true),
               set_config('lock_timeout', ${LOCK_TIMEOUT}, true),
               set_config('conciliation.marks_dates', 'on', true)`;
      await findTitles(tx, names);
      counts = await eraseRows(tx, names, pseudonym);
      if (isDryRun) throw new Undo();
      const details = { erasedPartyId: Number(partyId), ...counts };
      const isEmpty = Object.values(counts).every((count) => count === 0);
      if (!isEmpty) {
        await recordAudit(tx, { actor: by, action: 'party.erased', reason, details });
      }
    }, TRANSACTION)
    .catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error;
    });
  if (counts === null) throw new Error('an erasure has no counts');
  return counts;
}

/**
 * Finds the titles that name the party now, or did in one of their revisions. Reads both tables
 * completely.
 */
async function findTitles(tx: Transaction, names: PartyNames): Promise<void> {
  const keys = keysOf(names);
  const mentions = (column: string) => Prisma.sql`(
    ${taxIdOf(`${column} ->> 'provider_identification'`)} = ANY(${names.taxIds}::text[])
    OR ${taxIdOf(`${column} ->> 'financial_agent_identification'`)} = ANY(${names.taxIds}::text[])
    OR btrim(${Prisma.raw(column)} ->> 'provider_external_id') = ANY(${names.externalIds}::text[]))`;
  await tx.$executeRaw`CREATE TEMPORARY TABLE party_title (id bigint PRIMARY KEY) ON COMMIT DROP`;
  await tx.$executeRaw`
    INSERT INTO pg_temp.party_title
    SELECT id FROM conciliation.title
    WHERE ${PARTY_KEYS.provider} = ANY(${keys}::text[])
       OR ${PARTY_KEYS.financial_agent} = ANY(${keys}::text[])
       OR btrim(provider_external_id) = ANY(${names.externalIds}::text[])
    UNION
    SELECT title_id FROM conciliation.title_revision
    WHERE ${mentions('before')} OR ${mentions('after')}`;
  await tx.$executeRaw`ANALYZE pg_temp.party_title`;
}

async function eraseRows(
  tx: Transaction,
  names: PartyNames,
  pseudonym: string,
): Promise<ErasureCounts> {
  const keys = keysOf(names);
  // Booking lines first: a release locks the table, and then waits for merges.
  const bookingLines = await eraseBookingLines(tx, keys, pseudonym);
  // Staged titles before revisions: a merge locks its staged titles first, then title_revision.
  await eraseStaged(tx, keys, pseudonym);
  // Revisions before titles, because the present titles decide which revisions belong to the party.
  const revisions = await eraseRevisions(tx, keys, pseudonym);
  const titles = await eraseTitles(tx, keys, pseudonym);
  await erasePartyTotals(tx);
  await recordErasedRows(tx);
  const isParty = Prisma.sql`(
    'tax_id:' || ${taxIdOf('party_key')} = ANY(${keys}::text[])
    OR (kind = 'provider' AND 'external_id:' || party_key = ANY(${keys}::text[])))`;
  const partyAccounts = await tx.$executeRaw`
    DELETE FROM conciliation.party_account
    WHERE ${isParty} OR 'tax_id:' || tax_id = ANY(${keys}::text[])`;
  const accountChanges = await tx.$executeRaw`
    UPDATE conciliation.account_change
    SET party_key = ${pseudonym}, before = ${NO_ACCOUNT}::jsonb, after = ${NO_ACCOUNT}::jsonb
    WHERE ${isParty}`;
  const rejects = await tx.$executeRaw`
    UPDATE conciliation.rejected_title reject SET raw = ''
    WHERE raw <> '' AND EXISTS (
      SELECT FROM ${keysInText('reject.raw')} AS named WHERE named.key = ANY(${keys}::text[]))`;
  const providerBatches = await tx.$executeRaw`
    UPDATE conciliation.provider_batch batch
    SET answer = NULL,
        external_ids = ARRAY(
          SELECT CASE WHEN id = ANY(${names.externalIds}::text[]) THEN ${pseudonym} ELSE id END
          FROM unnest(batch.external_ids) WITH ORDINALITY AS sent (id, place) ORDER BY place)
    WHERE external_ids && ${names.externalIds}::text[]
       OR (answer IS NOT NULL AND EXISTS (
             SELECT FROM ${keysInText('batch.answer')} AS named WHERE named.key = ANY(${keys}::text[])))`;
  const providers = await eraseProviders(tx, names, pseudonym);
  const payables = await erasePayables(tx, names, pseudonym);
  const payableRejects = await tx.$executeRaw`
    UPDATE conciliation.erp_payable_reject reject SET raw = ''
    WHERE raw <> '' AND EXISTS (
      SELECT FROM ${keysInText('reject.raw')} AS named WHERE named.key = ANY(${keys}::text[]))`;
  return {
    bookingLines,
    titles,
    revisions,
    partyAccounts,
    accountChanges,
    rejects,
    providers,
    providerBatches,
    payables,
    payableRejects,
  };
}

const NO_ACCOUNT = JSON.stringify({
  bank: null,
  agency: null,
  agencyDigit: null,
  account: null,
  accountDigit: null,
});

async function eraseTitles(
  tx: Transaction,
  keys: readonly string[],
  pseudonym: string,
): Promise<number> {
  const ids: { id: bigint }[] = [];
  for (const kind of ['provider', 'financial_agent'] as const) {
    ids.push(
      ...(await tx.$queryRaw<{ id: bigint }[]>`
        UPDATE conciliation.title
        SET ${ASSIGNMENTS[kind]}, extra = NULL, erased_at = coalesce(erased_at, now())
        FROM (SELECT ${pseudonym}::text AS pseudonym) AS erased
        WHERE id = ANY(ARRAY(SELECT id FROM pg_temp.party_title))
          AND ${PARTY_KEYS[kind]} = ANY(${keys}::text[])
        RETURNING id`),
    );
  }
  return new Set(ids.map(({ id }) => id)).size;
}

async function eraseBookingLines(
  tx: Transaction,
  keys: readonly string[],
  pseudonym: string,
): Promise<number> {
  await tx.$executeRaw`ALTER TABLE conciliation.booking_line DISABLE TRIGGER booking_line_kept`;
  const ids = new Set<bigint>();
  for (const kind of ['provider', 'financial_agent'] as const) {
    const erased = await tx.$queryRaw<{ id: bigint }[]>`
      UPDATE conciliation.booking_line
      SET ${ASSIGNMENTS[kind]}
      FROM (SELECT ${pseudonym}::text AS pseudonym) AS erased
      WHERE ${PARTY_KEYS[kind]} = ANY(${keys}::text[])
      RETURNING id`;
    for (const { id } of erased) ids.add(id);
  }
  await tx.$executeRaw`ALTER TABLE conciliation.booking_line ENABLE TRIGGER booking_line_kept`;
  return ids.size;
}

/**
 * Removes the totals of the dates of the party's titles, which have hashes of its accounts. A date without a
 * stamp gets one, so that a computation from titles of before the erasure cannot insert one: `refreshTotals`.
 */
async function erasePartyTotals(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.schedule_date (date, epoch)
    SELECT DISTINCT accepted_date, 0 FROM conciliation.title
    WHERE id = ANY(ARRAY(SELECT id FROM pg_temp.party_title))
    ON CONFLICT (date) DO UPDATE SET epoch = excluded.epoch`;
  await tx.$executeRaw`
    DELETE FROM conciliation.schedule_total
    WHERE accepted_date = ANY(ARRAY(
      SELECT DISTINCT accepted_date FROM conciliation.title
      WHERE id = ANY(ARRAY(SELECT id FROM pg_temp.party_title))))`;
}

/** Records the hashes of the rows as the erasure left them; see `ROW_HASH`. */
async function recordErasedRows(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    ALTER TABLE conciliation.title_change DISABLE TRIGGER title_change_append_only`;
  await tx.$executeRaw`
    WITH newest AS (
      SELECT title_id, max(change_seq) AS change_seq FROM conciliation.title_change
      WHERE title_id = ANY(ARRAY(SELECT id FROM pg_temp.party_title))
        AND kind <> 'payment_released'
      GROUP BY title_id
    ), erased AS (
      SELECT id, ${ROW_HASH} AS row_hash FROM conciliation.title
      WHERE id = ANY(ARRAY(SELECT id FROM pg_temp.party_title)) AND erased_at IS NOT NULL
    )
    UPDATE conciliation.title_change AS change SET row_hash = erased.row_hash
    FROM newest JOIN erased ON erased.id = newest.title_id
    WHERE change.change_seq = newest.change_seq`;
  await tx.$executeRaw`
    ALTER TABLE conciliation.title_change ENABLE TRIGGER title_change_append_only`;
}

/**
 * Erases the staged rows of held pulls. The rows of running attempts are erased by their merges.
 */
async function eraseStaged(
  tx: Transaction,
  keys: readonly string[],
  pseudonym: string,
): Promise<void> {
  for (const kind of ['provider', 'financial_agent'] as const) {
    await tx.$executeRaw`
      UPDATE conciliation.staged_title
      SET ${ASSIGNMENTS[kind]}, extra = NULL, erased_at = now()
      FROM (SELECT ${pseudonym}::text AS pseudonym) AS erased
      WHERE ${PARTY_KEYS[kind]} = ANY(${keys}::text[])`;
  }
  await tx.$executeRaw`
    UPDATE conciliation.staged_reject reject SET raw = ''
    WHERE EXISTS (
      SELECT FROM ${keysInText('reject.raw')} AS named WHERE named.key = ANY(${keys}::text[]))`;
}

/**
 * A revision has the old and the new values of the columns that changed. The whole title at that
 * time decides to which party they belong: for each column, the value before the next change of
 * that column, or else the present value.
 */
async function eraseRevisions(
  tx: Transaction,
  keys: readonly string[],
  pseudonym: string,
): Promise<number> {
  // The table is append-only for all users. ALTER TABLE by the owner locks it, so no other session
  // uses it without its trigger.
  await tx.$executeRaw`
    ALTER TABLE conciliation.title_revision DISABLE TRIGGER title_revision_append_only`;
  const erased = await tx.$executeRaw`
    WITH state AS (
      SELECT revision.title_id, revision.revision, side.is_after,
             ${valueThen('provider_identification')}, ${valueThen('provider_external_id')},
             ${valueThen('financial_agent_identification')}
      FROM pg_temp.party_title
      JOIN conciliation.title AS title USING (id)
      JOIN conciliation.title_revision AS revision ON revision.title_id = title.id
      CROSS JOIN (VALUES (false), (true)) AS side (is_after)
    ), owned AS (
      SELECT title_id, revision,
             bool_or(${PARTY_KEYS.provider} = ANY(${keys}::text[]) AND NOT is_after) AS provider_before,
             bool_or(${PARTY_KEYS.provider} = ANY(${keys}::text[]) AND is_after) AS provider_after,
             bool_or(${PARTY_KEYS.financial_agent} = ANY(${keys}::text[]) AND NOT is_after) AS agent_before,
             bool_or(${PARTY_KEYS.financial_agent} = ANY(${keys}::text[]) AND is_after) AS agent_after
      FROM state GROUP BY title_id, revision
    ), clean AS (
      SELECT title_id, revision, ${cleaned('before')}, ${cleaned('after')}
      FROM owned JOIN conciliation.title_revision AS revised USING (title_id, revision)
      CROSS JOIN (SELECT ${pseudonym}::text AS pseudonym) AS erased
      WHERE provider_before OR provider_after OR agent_before OR agent_after
    )
    UPDATE conciliation.title_revision AS revision SET before = clean.before, after = clean.after
    FROM clean
    WHERE clean.title_id = revision.title_id AND clean.revision = revision.revision
      AND (clean.before, clean.after) IS DISTINCT FROM (revision.before, revision.after)`;
  await tx.$executeRaw`
    ALTER TABLE conciliation.title_revision ENABLE TRIGGER title_revision_append_only`;
  return erased;
}

const valueThen = (column: string): Prisma.Sql =>
  Prisma.raw(`
    coalesce(
      (SELECT later.before -> '${column}' FROM conciliation.title_revision AS later
       WHERE later.title_id = revision.title_id AND jsonb_exists(later.before, '${column}')
         AND later.revision >= revision.revision + is_after::int
       ORDER BY later.revision LIMIT 1),
      to_jsonb(title.${column})) #>> '{}' AS ${column}`);

const listOf = (columns: readonly string[]) => columns.map((column) => `'${column}'`).join(', ');
const { provider, financial_agent: agent } = PARTY_COLUMNS;

/** One side of a revision without the personal data of its party. */
const cleaned = (side: 'before' | 'after'): Prisma.Sql =>
  Prisma.raw(`(
    SELECT coalesce(jsonb_object_agg(key, CASE
             WHEN value = 'null' THEN value
             WHEN provider_${side} AND key IN (${listOf(provider.names)})
               OR agent_${side} AND key IN (${listOf(agent.names)}) THEN to_jsonb(pseudonym)
             WHEN provider_${side} AND key IN (${listOf(provider.details)})
               OR agent_${side} AND key IN (${listOf(agent.details)})
               OR (provider_${side} OR agent_${side}) AND key = 'extra' THEN 'null'
             ELSE value END), '{}')
    FROM jsonb_each(revised.${side})) AS ${side}`);

/** A payable and a title of the party have the same pseudonym as the supplier's code, so they still match. */
function erasePayables(tx: Transaction, names: PartyNames, pseudonym: string): Promise<number> {
  const isSupplier = Prisma.sql`(
    supplier_tax_id = ANY(${names.taxIds}::text[])
    OR (supplier_tax_id IS NULL AND btrim(supplier_external_id) = ANY(${names.externalIds}::text[])))`;
  const isPayee = Prisma.sql`coalesce(payee = ANY(${names.taxIds}::text[]), false)`;
  return tx.$executeRaw`
    UPDATE conciliation.erp_payable
    SET supplier_external_id = CASE WHEN is_supplier THEN ${pseudonym} ELSE supplier_external_id END,
        supplier_tax_id = CASE WHEN NOT is_supplier THEN supplier_tax_id END,
        payee = CASE WHEN NOT ${isPayee} THEN payee END
    FROM (SELECT erp_key AS key, coalesce(${isSupplier}, false) AS is_supplier FROM conciliation.erp_payable) AS named
    WHERE erp_key = key AND (is_supplier OR ${isPayee})`;
}

/** The supplier's own row, and references to it in the rows of other suppliers. */
async function eraseProviders(
  tx: Transaction,
  names: PartyNames,
  pseudonym: string,
): Promise<number> {
  const keys = keysOf(names);
  const deleted = await tx.$executeRaw`
    DELETE FROM conciliation.provider
    WHERE tax_id = ANY(${names.taxIds}::text[]) OR sent_tax_ids && ${names.taxIds}::text[]
       OR (external_id = ANY(${names.externalIds}::text[]) AND tax_id IS NULL)`;
  await tx.$executeRaw`
    UPDATE conciliation.provider
    SET contested_by = ARRAY(
      SELECT CASE WHEN id = ANY(${names.externalIds}::text[]) THEN ${pseudonym} ELSE id END
      FROM unnest(contested_by) AS rival (id))
    WHERE contested_by && ${names.externalIds}::text[]`;
  await tx.$executeRaw`
    UPDATE conciliation.provider supplier SET last_error = ''
    WHERE last_error IS NOT NULL AND EXISTS (
      SELECT FROM ${keysInText('supplier.last_error')} AS named WHERE named.key = ANY(${keys}::text[]))`;
  return deleted;
}
