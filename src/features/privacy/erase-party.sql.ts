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
  await tx.$executeRaw`CREATE TEMPORARY TABLE party_title (id bigint PRIMARY KEY) ON COMMIT DROP`;
  await tx.$executeRaw`
    INSERT INTO pg_temp.party_title
    SELECT id FROM conciliation.title
    WHERE ${PARTY_KEYS.provider} = ANY(${keys}::text[])
       OR ${PARTY_KEYS.financial_agent} = ANY(${keys}::text[])
       OR btrim(provider_external_id) = ANY(${names.externalIds}::text[])
    UNION
    SELECT title_id FROM conciliation.title_revision CROSS JOIN LATERAL (VALUES (before), (after)) AS side (state)
    WHERE ${taxIdOf(`state ->> 'provider_identification'`)} = ANY(${names.taxIds}::text[])
       OR ${taxIdOf(`state ->> 'financial_agent_identification'`)} = ANY(${names.taxIds}::text[])
       OR btrim(state ->> 'provider_external_id') = ANY(${names.externalIds}::text[])`;
  await tx.$executeRaw`ANALYZE pg_temp.party_title`;
}

/** Rows (id, provider, financial_agent) for `ASSIGNMENTS`: of the rows with the columns of a title that name the party. */
const namingRows = ({ keys, pseudonym }: Erasure, rows: Prisma.Sql) => Prisma.sql`
  SELECT * FROM (
    SELECT id, CASE WHEN ${PARTY_KEYS.provider} = ANY(${keys}::text[]) THEN ${pseudonym} END AS provider,
           CASE WHEN ${PARTY_KEYS.financial_agent} = ANY(${keys}::text[]) THEN ${pseudonym} END AS financial_agent
    FROM ${rows}
  ) AS named WHERE coalesce(provider, financial_agent) IS NOT NULL`;

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
    if (await isAsRecorded(tx, date)) recorded.push(date);
  }
  const titles = await tx.$executeRaw`
    UPDATE conciliation.title
    SET ${ASSIGNMENTS}, extra = NULL, erased_at = coalesce(erased_at, now())
    FROM (${namingRows(erasure, Prisma.sql`conciliation.title WHERE id = ANY(ARRAY(SELECT id FROM pg_temp.party_title))`)}) AS erased
    WHERE title.id = erased.id`;
  const digests: Record<CivilDate, string> = {};
  for (const date of recorded) {
    if (!(await isAsRecorded(tx, date))) digests[date] = await appendDigest(tx, date);
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
    WHERE raw <> '' AND ${isAnyIn(Prisma.sql`reject.raw`, keys)}`;
  const drift = await tx.$executeRaw`
    DELETE FROM conciliation.drift WHERE ${isNamedIn(Prisma.sql`value`, names, Prisma.sql`false`)}`;
  const providerBatches = await tx.$executeRaw`
    UPDATE conciliation.provider_batch batch
    SET answer = NULL, external_ids = ${withoutNumbers(erasure, Prisma.sql`external_ids`)}
    WHERE external_ids && ${names.externalIds}::text[]
       OR (answer IS NOT NULL AND ${isAnyIn(Prisma.sql`batch.answer`, keys)})`;
  const providers = await eraseProviders(erasure);
  const payables = await erasePayables(erasure);
  const payableRejects = await tx.$executeRaw`
    UPDATE conciliation.erp_payable_reject reject SET raw = ''
    WHERE raw <> '' AND ${isAnyIn(Prisma.sql`reject.raw`, keys)}`;
  const ofTitles = { titles, revisions, partyAccounts, accountChanges, rejects, drift };
  const ofErp = { providers, providerBatches, payables, payableRejects };
  return { counts: { ...bookings, ...ofTitles, ...ofErp }, digests };
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
  const isParty = (column: string) =>
    Prisma.sql`${Prisma.raw(column)} = ANY(${names.taxIds}::text[])`;
  return tx.$executeRaw`
    UPDATE conciliation.erp_payable
    SET supplier_external_id = CASE WHEN is_supplier THEN ${pseudonym} ELSE supplier_external_id END,
        supplier_tax_id = CASE WHEN NOT is_supplier THEN supplier_tax_id END,
        payee = CASE WHEN NOT ${isParty('payee')} THEN payee END,
        paid_to = CASE WHEN NOT ${isParty('paid_to')} THEN paid_to END,
        document = CASE WHEN NOT is_in_document THEN document END,
        -- An erasure states nothing. The trigger takes a row whose instant is unchanged for a statement of the ERP.
        stated_at = stated_at + interval '1 microsecond'
    FROM (SELECT *, ${isNamedIn(Prisma.sql`written`, names, Prisma.sql`is_supplier`)} AS is_in_document
          FROM (SELECT erp_key AS key, document AS written,
                       coalesce(${isParty('supplier_tax_id')},
                                btrim(supplier_external_id) = ANY(${names.externalIds}::text[]), false) AS is_supplier
                FROM conciliation.erp_payable) AS supplied) AS named
    WHERE erp_key = key AND (is_supplier OR is_in_document OR ${isParty('payee')} OR ${isParty('paid_to')})`;
}

/** A list of the ERP's numbers of suppliers with the pseudonym in place of those of the party. */
const withoutNumbers = ({ names, pseudonym }: Erasure, numbers: Prisma.Sql) => Prisma.sql`
  ARRAY(SELECT CASE WHEN number = ANY(${names.externalIds}::text[]) THEN ${pseudonym} ELSE number END
        FROM unnest(${numbers}) WITH ORDINALITY AS listed (number, place) ORDER BY place)`;

/** The supplier's row, and references to it in the rows of other suppliers. */
async function eraseProviders(erasure: Erasure): Promise<number> {
  const { tx, names, keys } = erasure;
  const deleted = await tx.$executeRaw`
    DELETE FROM conciliation.provider
    WHERE tax_id = ANY(${names.taxIds}::text[]) OR sent_tax_ids && ${names.taxIds}::text[]
       OR (external_id = ANY(${names.externalIds}::text[]) AND tax_id IS NULL)`;
  await tx.$executeRaw`
    UPDATE conciliation.provider SET contested_by = ${withoutNumbers(erasure, Prisma.sql`contested_by`)}
    WHERE contested_by && ${names.externalIds}::text[]`;
  await tx.$executeRaw`
    UPDATE conciliation.provider supplier SET last_error = ''
    WHERE last_error IS NOT NULL AND ${isAnyIn(Prisma.sql`supplier.last_error`, keys)}`;
  return deleted;
}

/** Erases the data of a party from lines, and from what the ERP wrote about lines. */
async function eraseBookings(erasure: Erasure) {
  const { tx, names, pseudonym } = erasure;
  // Receipts first: the service writes receipts and then their lines.
  await tx.$executeRaw`ALTER TABLE conciliation.booking_receipt DISABLE TRIGGER booking_receipt_kept`;
  await tx.$executeRaw`ALTER TABLE conciliation.booking_line DISABLE TRIGGER booking_line_kept`;
  /** What is left of the texts of rows (document, reason, is_own). */
  const texts = Prisma.sql`
    CASE WHEN ${isNamedIn(Prisma.sql`document`, names, Prisma.sql`is_own`)} THEN ${pseudonym} ELSE document END AS document,
    CASE WHEN (is_own AND reason IS NOT NULL) OR ${isNamedIn(Prisma.sql`reason`, names, Prisma.sql`is_own`)}
         THEN ${pseudonym} ELSE reason END AS reason`;
  // Lines of other parties keep those undocumented fields that do not name the party.
  const fields = DESTINATION_COLUMNS.map((name) => {
    const column = Prisma.raw(name);
    return Prisma.sql`
      CASE WHEN provider IS NULL AND financial_agent IS NULL THEN (
        SELECT jsonb_object_agg(key, CASE WHEN ${isNamedIn(Prisma.sql`value`, names, Prisma.sql`false`)}
                                          THEN ${pseudonym} ELSE value END)
        FROM jsonb_each_text(${column})) END AS ${column}`;
  });
  const fieldsOf = (row: string) =>
    Prisma.raw(DESTINATION_COLUMNS.map((column) => `${row}${column}`).join(', '));
  const isOwn = Prisma.sql`coalesce(${pseudonym} IN (line.provider_external_id, line.financial_agent_identification), false)`;
  const bookingLines = await tx.$executeRaw`
    UPDATE conciliation.booking_line AS line
    SET ${ASSIGNMENTS}, document = erased.document, failure = erased.reason, (${fieldsOf('')}) = ROW(${fieldsOf('erased.')})
    FROM (
      SELECT id, provider, financial_agent, ${texts}, ${Prisma.join(fields)}
      FROM (
        SELECT line.*, failure AS reason, provider, financial_agent,
               coalesce(provider, financial_agent) IS NOT NULL OR ${isOwn} AS is_own
        FROM conciliation.booking_line AS line
        LEFT JOIN (${namingRows(erasure, Prisma.sql`conciliation.booking_line`)}) AS named USING (id)
      ) AS written
    ) AS erased
    WHERE erased.id = line.id
      AND (coalesce(provider, financial_agent) IS NOT NULL
           OR (erased.document, erased.reason, ${fieldsOf('erased.')}) IS DISTINCT FROM (line.document, failure, ${fieldsOf('line.')}))`;
  const bookingReceipts = await tx.$executeRaw`
    UPDATE conciliation.booking_receipt AS receipt SET document = clean.document, reason = clean.reason
    FROM (
      SELECT id, ${texts} FROM (
        SELECT told.id, told.document, told.reason, ${isOwn} AS is_own FROM conciliation.booking_receipt AS told
        LEFT JOIN conciliation.booking_line AS line USING (date, identity_hash, occurrence, version)) AS written
    ) AS clean
    WHERE clean.id = receipt.id AND (clean.document, clean.reason) IS DISTINCT FROM (receipt.document, receipt.reason)`;
  await tx.$executeRaw`ALTER TABLE conciliation.booking_line ENABLE TRIGGER booking_line_kept`;
  await tx.$executeRaw`ALTER TABLE conciliation.booking_receipt ENABLE TRIGGER booking_receipt_kept`;
  return { bookingLines, bookingReceipts };
}

/**
 * A revision has the old and the new values of the columns that changed. The whole title at that
 * time decides to which party they belong: for each column, the value before the next change of
 * that column, or else the present value.
 */
async function eraseRevisions(erasure: Erasure): Promise<number> {
  const { tx, keys, pseudonym } = erasure;
  const { provider, financial_agent: agent } = PARTY_COLUMNS;
  const isOf = (columns: readonly string[]) => Prisma.sql`key = ANY(${[...columns]}::text[])`;
  // The table is append-only for all users. ALTER TABLE by the owner locks it, so no other session
  // uses it without its trigger.
  await tx.$executeRaw`
    ALTER TABLE conciliation.title_revision DISABLE TRIGGER title_revision_append_only`;
  const erased = await tx.$executeRaw`
    WITH state AS (
      SELECT title_id, revision, is_after, stated, ${valueThen('provider_identification')},
             ${valueThen('provider_external_id')}, ${valueThen('financial_agent_identification')}
      FROM pg_temp.party_title
      JOIN conciliation.title AS title USING (id)
      JOIN conciliation.title_revision AS revised ON revised.title_id = title.id
      CROSS JOIN LATERAL (VALUES (false, before), (true, after)) AS side (is_after, stated)
    ), clean AS (
      SELECT title_id, revision, is_after, (
          SELECT coalesce(jsonb_object_agg(key, CASE
                   WHEN value = 'null' THEN value
                   WHEN is_provider AND ${isOf(provider.names)} OR is_agent AND ${isOf(agent.names)} THEN to_jsonb(${pseudonym}::text)
                   WHEN is_provider AND ${isOf([...provider.details, 'extra'])}
                     OR is_agent AND ${isOf([...agent.details, 'extra'])} THEN 'null'
                   ELSE value END), '{}')
          FROM jsonb_each(stated)) AS stated
      FROM (SELECT *, ${PARTY_KEYS.provider} = ANY(${keys}::text[]) AS is_provider,
                   ${PARTY_KEYS.financial_agent} = ANY(${keys}::text[]) AS is_agent FROM state) AS named
    )
    UPDATE conciliation.title_revision AS revision SET before = old.stated, after = new.stated
    FROM clean AS old JOIN clean AS new USING (title_id, revision)
    WHERE NOT old.is_after AND new.is_after
      AND old.title_id = revision.title_id AND old.revision = revision.revision
      AND (old.stated, new.stated) IS DISTINCT FROM (revision.before, revision.after)`;
  await tx.$executeRaw`
    ALTER TABLE conciliation.title_revision ENABLE TRIGGER title_revision_append_only`;
  return erased;
}

const valueThen = (column: string): Prisma.Sql =>
  Prisma.raw(`
    coalesce(
      (SELECT later.before -> '${column}' FROM conciliation.title_revision AS later
       WHERE later.title_id = revised.title_id AND jsonb_exists(later.before, '${column}')
         AND later.revision >= revised.revision + is_after::int
       ORDER BY later.revision LIMIT 1),
      to_jsonb(title.${column})) #>> '{}' AS ${column}`);

/** Whether the titles of a date are those that the newest merge or erasure has left, and have their hashes. */
async function isAsRecorded(tx: Transaction, date: CivilDate): Promise<boolean> {
  const [{ isRecorded }] = await tx.$queryRaw<[{ isRecorded: boolean }]>`
    SELECT ${areRowsRecorded(date)} AND NOT EXISTS (${contentAlterations(date)}) AS "isRecorded"`;
  return isRecorded;
}

/** Appends the digest that an erasure leaves, and returns it for the entry of the erasure. */
async function appendDigest(tx: Transaction, date: CivilDate): Promise<string> {
  const [{ digest }] = await tx.$queryRaw<[{ digest: string }]>`
    ${digestRow(date, null)} RETURNING encode(digest, 'hex') AS digest`;
  return digest;
}
