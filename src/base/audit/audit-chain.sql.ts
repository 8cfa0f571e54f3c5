import { createHash } from 'node:crypto';
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

interface LinkedEntry {
  readonly position: string;
  readonly entry_id: string;
  readonly previous_hash: string;
  readonly hash: string;
  readonly is_there: boolean;
  /** The entry's columns as text, in the order in which they are hashed. */
  readonly fields: readonly (string | null)[];
}

const FIRST_PREVIOUS_HASH = '0'.repeat(64);
const LINKS_PER_READ = 1000;

/**
 * Reads the whole chain and recomputes every hash from the columns of its entry. The program computes the hashes itself,
 * because a function of the database may have been replaced.
 * @param anchor a link that was kept outside of the database; without it, the removal of the newest entries with their
 * links is not found
 */
export async function verifyAuditChain(
  database: Database,
  anchor: ChainLink | null = null,
): Promise<ChainReport> {
  let head: ChainLink | null = null;
  let isAnchored = anchor === null;
  for (;;) {
    const links = await readLinks(database, head?.position ?? 0);
    for (const link of links) {
      const position: number = (head?.position ?? 0) + 1;
      const isAnchor = anchor !== null && anchor.position === position;
      const kind =
        faultOf(link, head) ?? (isAnchor && anchor.hash !== link.hash ? 'anchor_changed' : null);
      if (kind !== null) return brokenAt(head, kind, position, Number(link.entry_id));
      head = { position, hash: link.hash };
      isAnchored ||= isAnchor;
    }
    if (links.length < LINKS_PER_READ) break;
  }
  const unlinked = await readFirstUnlinked(database);
  if (unlinked !== null) {
    return brokenAt(head, 'unlinked', null, unlinked);
  }
  if (!isAnchored) return brokenAt(head, 'anchor_missing', anchor?.position ?? null, null);
  return { links: head?.position ?? 0, head, fault: null };
}

/** Returns the newest link; null: the log is empty. */
export async function readChainHead(database: Database): Promise<ChainLink | null> {
  const head = await database.prisma.auditChain.findFirst({ orderBy: { position: 'desc' } });
  return head && { position: Number(head.position), hash: head.hash };
}

function brokenAt(
  head: ChainLink | null,
  ...[kind, position, entryId]: [ChainFault, position: number | null, entryId: number | null]
): ChainReport {
  return { links: head?.position ?? 0, head, fault: { kind, position, entryId } };
}

function faultOf(link: LinkedEntry, head: ChainLink | null): ChainFault | null {
  const position = (head?.position ?? 0) + 1;
  const previousHash = head?.hash ?? FIRST_PREVIOUS_HASH;
  if (link.position !== String(position) || link.previous_hash !== previousHash) {
    return 'broken_link';
  }
  if (!link.is_there) return 'deleted';
  return hashOf([link.position, previousHash, ...link.fields]) === link.hash ? null : 'changed';
}

function hashOf(fields: readonly (string | null)[]): string {
  const text = fields
    .map((field) => (field === null ? '-' : `${Buffer.byteLength(field)}:${field}`))
    .join('\n');
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function readLinks(database: Database, after: number): Promise<LinkedEntry[]> {
  return database.prisma.$queryRaw<LinkedEntry[]>`
    SELECT chain.position::text AS position, chain.entry_id::text AS entry_id, chain.previous_hash,
           chain.hash, entry.id IS NOT NULL AS is_there,
           ARRAY[entry.id::text, to_char(entry.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
                 entry.actor, entry.action, to_char(entry.date, 'YYYY-MM-DD'), entry.pull_id::text,
                 entry.reason, entry.details::text] AS fields
    FROM conciliation.audit_chain chain
    LEFT JOIN conciliation.audit_entry entry ON entry.id = chain.entry_id
    WHERE chain.position > ${after}::bigint
    ORDER BY chain.position LIMIT ${LINKS_PER_READ}`;
}

async function readFirstUnlinked(database: Database): Promise<number | null> {
  const [entry] = await database.prisma.$queryRaw<[{ id: number }?]>`
    SELECT id::float8 AS id FROM conciliation.audit_entry entry
    WHERE NOT EXISTS (SELECT FROM conciliation.audit_chain WHERE entry_id = entry.id)
    ORDER BY entry.id LIMIT 1`;
  return entry?.id ?? null;
}
