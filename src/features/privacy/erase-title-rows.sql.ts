/** Erases the data of a party from titles, revisions and the rows derived from them; `eraseParty` gives the order. */
import type { Transaction } from '../../base/database/database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { ASSIGNMENTS, isNamedIn, PARTY_COLUMNS, PARTY_KEYS } from './erased-parties.sql.ts';
import { keysOf, type PartyNames } from './party-names.sql.ts';

export async function eraseTitles(
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

/** Erases the data of a party from lines, and from what the ERP wrote about lines. */
export async function eraseBookings(
  tx: Transaction,
  names: PartyNames,
  pseudonym: string,
): Promise<{ readonly bookingLines: number; readonly bookingReceipts: number }> {
  const keys = keysOf(names);
  // Receipts first: the service writes receipts and then their lines.
  await tx.$executeRaw`ALTER TABLE conciliation.booking_receipt DISABLE TRIGGER booking_receipt_kept`;
  await tx.$executeRaw`ALTER TABLE conciliation.booking_line DISABLE TRIGGER booking_line_kept`;
  const ids = new Set<bigint>();
  for (const kind of ['provider', 'financial_agent'] as const) {
    const erased = await tx.$queryRaw<{ id: bigint }[]>`
      UPDATE conciliation.booking_line
      SET ${ASSIGNMENTS[kind]}, provider_destination = NULL, payment_destination = NULL
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
export async function eraseRevisions(
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
