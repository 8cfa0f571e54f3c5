/**
 * Erases the personal data of a party from every table: docs/privacy.md. Titles, amounts, dates,
 * hashes and seals stay. A first transaction adds the party to the list of erased parties. From
 * then on every merge removes the party's data from its rows (`eraseErased`). A second transaction
 * can therefore search all titles without delaying merges, and finds all data of the party.
 */

import { randomBytes } from 'node:crypto';
import { recordAudit } from '../../base/audit/audit.ts';
import {
  type Database,
  inTransaction,
  type QueryClient,
  type Transaction,
} from '../../base/database/database.ts';
import { taxIdOf } from '../../base/database/expressions.sql.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { areRowsRecorded, digestRow } from '../../core/ledger/day-ledger.sql.ts';
import { DESTINATION_COLUMNS } from '../../core/title/destinations.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { writeTotals } from '../schedule/payee.sql.ts';
import { contentAlterations } from '../verify/alterations.sql.ts';
import {
  ASSIGNMENTS,
  addExternalIds,
  eraseStaged,
  isAnyIn,
  isNamedIn,
  keysOf,
  type NamedParty,
  PARTY_COLUMNS,
  PARTY_KEYS,
  type PartyNames,
  toNames,
  undecidedTaxIds,
} from './erased-parties.sql.ts';

/** The longest wait for running merges. Other merges wait during this time. */
const LOCK_TIMEOUT = '30s';
/** The time limit of Prisma must not end a transaction that PostgreSQL still works on. */
const TRANSACTION = { timeout: 86_400_000, maxWait: 30_000 } as const;

interface ListedParty {
  readonly id: bigint;
  readonly isNew: boolean;
}

/** Returns the row whose keys include one of `keys` and whose erasure has not ended; null: there is none. */
async function findListed(
  client: QueryClient,
  keys: readonly string[],
): Promise<ListedParty | null> {
  const [party] = await client.$queryRaw<[{ id: bigint }?]>`
    SELECT party.id FROM conciliation.erased_party AS party, unnest(${keys}::text[]) AS named (key)
    WHERE party.ended_at IS NULL
      AND sha256(party.salt || convert_to(named.key, 'UTF8')) = ANY(party.key_hashes)
    ORDER BY party.id LIMIT 1`;
  return party === undefined ? null : { id: party.id, isNew: false };
}

/**
 * Adds the party to the list, or keys to its row.
 * @throws StagingUnavailableError when running merges do not end within `LOCK_TIMEOUT`
 */
function listParty(
  database: Database,
  names: PartyNames,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<ListedParty> {
  const keys = keysOf(names);
  return database.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
    // Waits for every merge that has read the list: see `readDay`.
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

/** Returns the number of erasures that were ended: 1, or 0 where the erasure does not exist or has ended. */
function endErasure(client: Pick<Transaction, '$executeRaw'>, partyId: bigint): Promise<number> {
  return client.$executeRaw`
    UPDATE conciliation.erased_party SET ended_at = now()
    WHERE id = ${partyId} AND ended_at IS NULL`;
}

export interface ErasureRequest {
  readonly party: NamedParty;
  readonly by: string;
  readonly reason: string;
  /** Rolls everything back after counting. */
  readonly isDryRun: boolean;
  /** What to do with titles that may name the party: `undecidedTaxIds`. Without a decision, such titles are an error. */
  readonly undecided?: 'erase' | 'keep' | undefined;
}

/**
 * May be called again for the same party, and then erases the remaining data.
 * @returns with `erased_party.id`; null in a dry run for a party that is not on the list
 * @throws InputError when no row names the party, an external id belongs to several tax identifiers, or titles may
 * name the party and nothing is decided about them
 * @throws StagingUnavailableError when running merges do not end in time; the call can be repeated
 */
export async function eraseParty(database: Database, request: ErasureRequest) {
  const { by, isDryRun, reason } = request;
  const given = await decideNames(database, request);
  const list = (names: PartyNames) =>
    isDryRun ? findListed(database.prisma, keysOf(names)) : listParty(database, names, request);
  const listed = await list(given);
  // Once the tax identifier is on the list, no title gives the party another number.
  const names = await addExternalIds(database, given);
  if (names.externalIds.length > given.externalIds.length) await list(names);
  const partyId = listed?.id ?? null;
  const isEmpty = (counts: object) => Object.values(counts).every((count) => count === 0);
  const counts = await inTransaction(database, { isDryRun, ...TRANSACTION }, async (tx) => {
    await tx.$executeRaw`
      SELECT set_config('statement_timeout', '0', true),
             set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
    const erasure = { tx, names, keys: keysOf(names), pseudonym: pseudonymOf(partyId ?? 0n) };
    await findTitles(erasure);
    const { counts, digests } = await eraseRows(erasure);
    const details = { erasedPartyId: Number(partyId), ...counts, digests };
    if (!isDryRun && !isEmpty(counts)) {
      await recordAudit(tx, { actor: by, action: 'party.erased', reason, details });
    }
    return counts;
  });
  if (isEmpty(counts) && (listed === null || listed.isNew)) {
    if (partyId !== null) await endErasure(database.prisma, partyId);
    throw new InputError('no title, provider, payable or rejected title names this party');
  }
  return {
    partyId: partyId === null ? null : Number(partyId),
    pseudonym: partyId === null ? null : pseudonymOf(partyId),
    counts,
  };
}

async function decideNames(
  database: Database,
  { party, undecided }: ErasureRequest,
): Promise<PartyNames> {
  const names = await toNames(database, party);
  const others = undecided === 'keep' ? [] : await undecidedTaxIds(database, names);
  if (others.length > 0 && undecided === undefined) {
    throw new InputError(
      'titles have a number that is this tax identifier or, with or without leading zeros, another one; look at them, then repeat with --undecided erase or --undecided keep',
    );
  }
  return { ...names, taxIds: [...names.taxIds, ...others] };
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

/** The transaction that erases a party. */
interface Erasure {
  readonly tx: Transaction;
  readonly names: PartyNames;
  /** `keysOf` the names. */
  readonly keys: readonly string[];
  readonly pseudonym: string;
}

/**
 * Finds the titles that name the party now, or did in one of their revisions. Reads both tables
 * completely.
 */
async function findTitles({ tx, names, keys }: Erasure): Promise<void> {
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

async function eraseRows(erasure: Erasure) {
  const { tx, names, keys, pseudonym } = erasure;
  // The days first, as a merge and a release lock them: the totals of a date are those of all of its titles.
  const dates = await lockDays(tx);
  // Bookings next: a release locks the lines, and then waits for merges.
  const bookings = await eraseBookings(erasure);
  // Staged titles before revisions: a merge locks its staged titles first, then title_revision. The rows are those of held
  // pulls: a running attempt erases its rows itself, and finds the party on the list too.
  await eraseStaged(tx, Prisma.sql`true`);
  // Revisions before titles, because the present titles decide which revisions belong to the party.
  const revisions = await eraseRevisions(erasure);
  // A digest of a date with an altered title would cover the alteration.
  const recorded: CivilDate[] = [];
  for (const date of dates) {
    const altered = await tx.$queryRaw<unknown[]>`
      SELECT FROM (${contentAlterations(date)}) AS altered LIMIT 1`;
    if (altered.length === 0 && (await hasRecordedRows(tx, date))) recorded.push(date);
  }
  const titles = await eraseTitles(erasure);
  const digests: Record<CivilDate, string> = {};
  for (const date of recorded) {
    if (!(await hasRecordedRows(tx, date))) digests[date] = await appendDigest(tx, date);
  }
  const isParty = Prisma.sql`(
    'tax_id:' || ${taxIdOf('party_key')} = ANY(${keys}::text[])
    OR (kind = 'provider' AND 'external_id:' || party_key = ANY(${keys}::text[])))`;
  const partyAccounts = await tx.$executeRaw`
    DELETE FROM conciliation.party_account
    WHERE ${isParty} OR 'tax_id:' || tax_id = ANY(${keys}::text[])`;
  await writeTotals(tx, Prisma.sql`accepted_date = ANY(${dates}::date[])`, null);
  const accountChanges = await tx.$executeRaw`
    UPDATE conciliation.account_change
    -- The key of a party by its tax identifier is a normal form, as the payment schedule compares it.
    SET party_key = CASE WHEN 'tax_id:' || ${taxIdOf('party_key')} = ANY(${keys}::text[])
                         THEN conciliation.tax_id(${pseudonym}) ELSE ${pseudonym} END, before = ${NO_ACCOUNT}::jsonb, after = ${NO_ACCOUNT}::jsonb
    WHERE ${isParty}`;
  const rejects = await tx.$executeRaw`
    UPDATE conciliation.rejected_title reject SET raw = ''
    WHERE raw <> '' AND ${isAnyIn('reject.raw', keys)}`;
  const drift = await tx.$executeRaw`
    DELETE FROM conciliation.drift WHERE ${isNamedIn(Prisma.sql`value`, names, Prisma.sql`false`)}`;
  const providerBatches = await tx.$executeRaw`
    UPDATE conciliation.provider_batch batch
    SET answer = NULL,
        external_ids = ARRAY(
          SELECT CASE WHEN id = ANY(${names.externalIds}::text[]) THEN ${pseudonym} ELSE id END
          FROM unnest(batch.external_ids) WITH ORDINALITY AS sent (id, place) ORDER BY place)
    WHERE external_ids && ${names.externalIds}::text[]
       OR (answer IS NOT NULL AND ${isAnyIn('batch.answer', keys)})`;
  const providers = await eraseProviders(erasure);
  const payables = await erasePayables(erasure);
  const payableRejects = await tx.$executeRaw`
    UPDATE conciliation.erp_payable_reject reject SET raw = ''
    WHERE raw <> '' AND ${isAnyIn('reject.raw', keys)}`;
  const titlesAndParty = { titles, revisions, partyAccounts, accountChanges, rejects, drift };
  const counts = {
    ...bookings,
    ...titlesAndParty,
    providers,
    providerBatches,
    payables,
    payableRejects,
  };
  return { counts, digests };
}

/** Locks the days of the titles that `findTitles` has found, and returns them. */
async function lockDays(tx: Transaction): Promise<CivilDate[]> {
  const days = await tx.$queryRaw<{ date: CivilDate }[]>`
    SELECT date::text AS date FROM conciliation.day
    WHERE date = ANY(ARRAY(SELECT DISTINCT accepted_date FROM conciliation.title
                           WHERE id = ANY(ARRAY(SELECT id FROM pg_temp.party_title))))
    ORDER BY day.date FOR UPDATE`;
  return days.map(({ date }) => date);
}

const NO_ACCOUNT =
  '{"bank":null,"agency":null,"agencyDigit":null,"account":null,"accountDigit":null,"destination":null}';

/** A payable and a title of the party have the same pseudonym as the supplier's code, so they still match. */
function erasePayables({ tx, names, pseudonym }: Erasure): Promise<number> {
  const isSupplier = Prisma.sql`(
    supplier_tax_id = ANY(${names.taxIds}::text[])
    OR (supplier_tax_id IS NULL AND btrim(supplier_external_id) = ANY(${names.externalIds}::text[])))`;
  const isPaid = Prisma.sql`coalesce(paid_to = ANY(${names.taxIds}::text[]), false)`;
  const isPayee = Prisma.sql`coalesce(payee = ANY(${names.taxIds}::text[]), false)`;
  return tx.$executeRaw`
    UPDATE conciliation.erp_payable
    SET supplier_external_id = CASE WHEN is_supplier THEN ${pseudonym} ELSE supplier_external_id END,
        supplier_tax_id = CASE WHEN NOT is_supplier THEN supplier_tax_id END,
        payee = CASE WHEN NOT ${isPayee} THEN payee END,
        paid_to = CASE WHEN NOT ${isPaid} THEN paid_to END,
        document = CASE WHEN NOT is_in_document THEN document END,
        -- An erasure states nothing. The trigger takes a row whose instant is unchanged for a statement of the ERP.
        stated_at = stated_at + interval '1 microsecond'
    FROM (SELECT *, ${isNamedIn(Prisma.sql`written`, names, Prisma.sql`is_supplier`)} AS is_in_document
          FROM (SELECT erp_key AS key, document AS written, coalesce(${isSupplier}, false) AS is_supplier
                FROM conciliation.erp_payable) AS supplied) AS named
    WHERE erp_key = key AND (is_supplier OR is_in_document OR ${isPayee} OR ${isPaid})`;
}

/** The supplier's row, and references to it in the rows of other suppliers. */
async function eraseProviders({ tx, names, keys, pseudonym }: Erasure): Promise<number> {
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
    WHERE last_error IS NOT NULL AND ${isAnyIn('supplier.last_error', keys)}`;
  return deleted;
}

async function eraseTitles({ tx, keys, pseudonym }: Erasure): Promise<number> {
  const ids = new Set<bigint>();
  for (const kind of ['provider', 'financial_agent'] as const) {
    const erased = await tx.$queryRaw<{ id: bigint }[]>`
      UPDATE conciliation.title
      SET ${ASSIGNMENTS[kind]}, extra = NULL, erased_at = coalesce(erased_at, now())
      FROM (SELECT ${pseudonym}::text AS pseudonym) AS erased
      WHERE id = ANY(ARRAY(SELECT id FROM pg_temp.party_title))
        AND ${PARTY_KEYS[kind]} = ANY(${keys}::text[])
      RETURNING id`;
    for (const { id } of erased) ids.add(id);
  }
  return ids.size;
}

/** Erases the data of a party from lines, and from what the ERP wrote about lines. */
async function eraseBookings({ tx, names, keys, pseudonym }: Erasure) {
  // Receipts first: the service writes receipts and then their lines.
  await tx.$executeRaw`ALTER TABLE conciliation.booking_receipt DISABLE TRIGGER booking_receipt_kept`;
  await tx.$executeRaw`ALTER TABLE conciliation.booking_line DISABLE TRIGGER booking_line_kept`;
  const ids = new Set<bigint>();
  for (const kind of ['provider', 'financial_agent'] as const) {
    const erased = await tx.$queryRaw<{ id: bigint }[]>`
      UPDATE conciliation.booking_line
      SET ${ASSIGNMENTS[kind]}, provider_destination = NULL, payment_destination = NULL, promoted = NULL
      FROM (SELECT ${pseudonym}::text AS pseudonym) AS erased
      WHERE ${PARTY_KEYS[kind]} = ANY(${keys}::text[])
      RETURNING id`;
    for (const { id } of erased) ids.add(id);
  }
  const isOwn = Prisma.sql`coalesce(${pseudonym} IN (line.provider_external_id, line.financial_agent_identification), false)`;
  /** What is left of the texts in the rows (id, document, reason, is_own) where it differs. */
  const cleaned = (rows: Prisma.Sql) => Prisma.sql`
    SELECT * FROM (
      SELECT id, document AS document_before, reason AS reason_before,
             CASE WHEN ${isNamedIn(Prisma.sql`document`, names, Prisma.sql`is_own`)} THEN ${pseudonym} ELSE document END AS document,
             CASE WHEN (is_own AND reason IS NOT NULL) OR ${isNamedIn(Prisma.sql`reason`, names, Prisma.sql`is_own`)}
                  THEN ${pseudonym} ELSE reason END AS reason
      FROM (${rows}) AS written
    ) AS clean WHERE (document, reason) IS DISTINCT FROM (document_before, reason_before)`;
  const lines = await tx.$queryRaw<{ id: bigint }[]>`
    UPDATE conciliation.booking_line AS line SET document = clean.document, failure = clean.reason
    FROM (${cleaned(Prisma.sql`
      SELECT id, document, failure AS reason, ${isOwn} AS is_own FROM conciliation.booking_line AS line`)}) AS clean
    WHERE clean.id = line.id RETURNING line.id`;
  for (const { id } of lines) ids.add(id);
  // The undocumented fields of other parties' lines.
  for (const name of DESTINATION_COLUMNS) {
    const column = Prisma.raw(name);
    const named = await tx.$queryRaw<{ id: bigint }[]>`
      UPDATE conciliation.booking_line AS line SET ${column} = clean.fields
      FROM (SELECT id, (
              SELECT jsonb_object_agg(key, CASE WHEN ${isNamedIn(Prisma.sql`value`, names, Prisma.sql`false`)}
                                                THEN ${pseudonym} ELSE value END)
              FROM jsonb_each_text(${column})) AS fields
            FROM conciliation.booking_line WHERE ${column} IS NOT NULL) AS clean
      WHERE clean.id = line.id AND clean.fields <> line.${column} RETURNING line.id`;
    for (const { id } of named) ids.add(id);
  }
  const bookingReceipts = await tx.$executeRaw`
    UPDATE conciliation.booking_receipt AS receipt SET document = clean.document, reason = clean.reason
    FROM (${cleaned(Prisma.sql`
      SELECT told.id, told.document, told.reason, ${isOwn} AS is_own FROM conciliation.booking_receipt AS told
      LEFT JOIN conciliation.booking_line AS line USING (date, identity_hash, occurrence, version)`)}) AS clean
    WHERE clean.id = receipt.id`;
  await tx.$executeRaw`ALTER TABLE conciliation.booking_line ENABLE TRIGGER booking_line_kept`;
  await tx.$executeRaw`ALTER TABLE conciliation.booking_receipt ENABLE TRIGGER booking_receipt_kept`;
  return { bookingLines: ids.size, bookingReceipts };
}

/**
 * A revision has the old and the new values of the columns that changed. The whole title at that
 * time decides to which party they belong: for each column, the value before the next change of
 * that column, or else the present value.
 */
async function eraseRevisions({ tx, keys, pseudonym }: Erasure): Promise<number> {
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

async function hasRecordedRows(tx: Transaction, date: CivilDate): Promise<boolean> {
  const [{ isRecorded }] = await tx.$queryRaw<[{ isRecorded: boolean }]>`
    SELECT ${areRowsRecorded(date)} AS "isRecorded"`;
  return isRecorded;
}

/** Appends the digest that an erasure leaves, and returns it for the entry of the erasure. */
async function appendDigest(tx: Transaction, date: CivilDate): Promise<string> {
  const [{ digest }] = await tx.$queryRaw<[{ digest: string }]>`
    ${digestRow(date, null)} RETURNING encode(digest, 'hex') AS digest`;
  return digest;
}
