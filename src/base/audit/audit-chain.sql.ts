import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../database/database.ts';

/** A link of the audit log's chain. A copy that is kept elsewhere proves that no entry up to it was removed. */
export interface ChainLink {
  readonly position: number;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
}

export type ChainFault =
  /** The entry differs from the entry that was linked. */
  | 'changed'
  | 'deleted'
  /** The entry was inserted without a link, or its link was removed. */
  | 'unlinked'
  /** The link does not continue the link before it. */
  | 'broken_link'
  /** The link that was kept elsewhere does not exist, or is a different one. */
  | 'anchor_missing'
  | 'anchor_changed';

export interface ChainReport {
  /** Number of valid links before the first fault. */
  readonly links: number;
  /** The last valid link; null: there is none. */
  readonly head: ChainLink | null;
  /** Null: the chain is whole. */
  readonly fault: {
    readonly kind: ChainFault;
    readonly position: number | null;
    readonly entryId: number | null;
  } | null;
}

/** What is hashed of an entry and of its link, as text, in this order. */
const FIELDS = [
  'chain.position::text',
  'chain.previous_hash',
  'entry.id::text',
  "to_char(entry.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')",
  'entry.actor',
  'entry.action',
  "to_char(entry.date, 'YYYY-MM-DD')",
  'entry.pull_id::text',
  'entry.reason',
  'entry.details::text',
].map((field) => `coalesce(octet_length(${field}) || ':' || ${field}, '-')`);

/** With PostgreSQL's own functions only, because a function of the database may have been replaced. */
const computedHash = Prisma.raw(
  `encode(sha256(convert_to(concat_ws(chr(10), ${FIELDS.join(', ')}), 'UTF8')), 'hex')`,
);

/**
 * Reads the whole chain and recomputes every hash from the columns of its entry.
 * @param anchor a link that was kept outside of the database; without it, the removal of the newest entries with their
 * links is not found
 */
export async function verifyAuditChain(
  database: Database,
  anchor: ChainLink | null = null,
): Promise<ChainReport> {
  const [{ head, fault }] = await database.prisma.$queryRaw<[Omit<ChainReport, 'links'>]>`
    WITH link AS MATERIALIZED (
      SELECT row_number() OVER chained AS place, chain.position, chain.hash, chain.entry_id,
             CASE WHEN chain.position <> row_number() OVER chained
                    OR chain.previous_hash <> coalesce(lag(chain.hash) OVER chained, repeat('0', 64)) THEN 'broken_link'
                  WHEN entry.id IS NULL THEN 'deleted'
                  WHEN chain.hash <> ${computedHash} THEN 'changed'
                  WHEN chain.position = ${anchor?.position ?? null}::bigint
                    AND chain.hash <> ${anchor?.hash ?? null} THEN 'anchor_changed' END AS kind
      FROM conciliation.audit_chain AS chain
      LEFT JOIN conciliation.audit_entry AS entry ON entry.id = chain.entry_id
      WINDOW chained AS (ORDER BY chain.position)
    ), broken AS (
      SELECT kind, place AS position, entry_id AS "entryId" FROM link WHERE kind IS NOT NULL ORDER BY place LIMIT 1
    ), unlinked AS (
      SELECT 'unlinked' AS kind, NULL::bigint AS position, id AS "entryId" FROM conciliation.audit_entry AS entry
      WHERE NOT EXISTS (SELECT FROM conciliation.audit_chain WHERE entry_id = entry.id) ORDER BY id LIMIT 1
    ), missing AS (
      SELECT 'anchor_missing' AS kind, ${anchor?.position ?? null}::bigint AS position, NULL::bigint AS "entryId"
      WHERE ${anchor !== null}::boolean AND ${anchor?.position ?? null}::bigint NOT IN (SELECT position FROM link)
    ), intact AS (
      SELECT position, hash FROM link WHERE place < coalesce((SELECT position FROM broken), place + 1)
      ORDER BY place DESC LIMIT 1
    )
    SELECT (SELECT to_jsonb(intact) FROM intact) AS head,
           coalesce((SELECT to_jsonb(broken) FROM broken), (SELECT to_jsonb(unlinked) FROM unlinked),
                    (SELECT to_jsonb(missing) FROM missing)) AS fault`;
  return { links: head?.position ?? 0, head, fault };
}

/** Returns the newest link; null: the log is empty. */
export async function readChainHead(database: Database): Promise<ChainLink | null> {
  const head = await database.prisma.auditChain.findFirst({ orderBy: { position: 'desc' } });
  return head && { position: Number(head.position), hash: head.hash };
}
