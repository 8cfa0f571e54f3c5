import type { Pool, PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { requireKnownVersion } from '../database/content-versions.ts';
import { toStagingError } from '../database/database.ts';
import { KnownTitles, type MissingText } from '../domain/known-titles.ts';
import { newestContentVersion } from '../domain/title.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Attempt } from '../ledger/pull-ledger.ts';
import { ConfigError } from '../runtime/errors.ts';
import { takeTurns } from '../runtime/turns.ts';

/** What the table had of a date when the reading of a response began. */
export interface KnownDay {
  /** `day.changed_at` then, to the microsecond: whether the titles are still those. Null: no title is known. */
  readonly baseChangedAt: string | null;
  readonly titles: KnownTitles;
  /** Of the content hashes of the date; see `CONTENT_VERSIONS`. */
  readonly contentVersion: number;
}

/** What a response said of the titles that were at hand, once it was read to its end. */
export interface KnownResponse {
  readonly baseChangedAt: string | null;
  /** Titles of the response that were known. */
  readonly titles: number;
  /** The known titles that the response lacks. */
  readonly missing: Pick<KnownTitles, 'missing'>;
}

/** Texts that are kept at hand, 48 bytes each. Larger dates are compared in the database. */
const MAX_KNOWN_TITLES = 2_000_000;

function nothingKnown(contentVersion: number): KnownDay {
  return { baseChangedAt: null, titles: new KnownTitles(0), contentVersion };
}

/**
 * Reads which titles, by the hash of their text, the date of an attempt has: all of them, or none. None
 * are known of a date with more than `maxTitles`, and of one that an earlier fetch may still change: a
 * difference from its titles would be void by the time it is merged.
 *
 * @throws StagingUnavailableError when the database goes away
 * @throws ConfigError when a newer version of the program has written the date
 */
export async function loadKnownDay(
  pool: Pool,
  attempt: Pick<Attempt, 'date' | 'fence'>,
  maxTitles: number = MAX_KNOWN_TITLES,
): Promise<KnownDay> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toStagingError(error);
  });
  let failure: Error | undefined;
  try {
    const found = await readBase(client, attempt);
    if (!isUsable(found, maxTitles)) return nothingKnown(found.contentVersion);
    // The ledger and the titles have to be of one moment.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const base = await readBase(client, attempt);
    const titles = isUsable(base, maxTitles) ? await copyHashes(client, attempt, base.count) : null;
    await client.query('COMMIT');
    // Where the ledger and the titles disagree, somebody was at work by hand: no title is taken for known,
    // and the merge compares the titles themselves.
    if (titles === null) return nothingKnown(base.contentVersion);
    return { baseChangedAt: base.changedAt, titles, contentVersion: base.contentVersion };
  } catch (error) {
    failure = error instanceof Error ? error : new Error('reading the known titles failed');
    throw error instanceof ConfigError ? error : toStagingError(error);
  } finally {
    client.release(failure);
  }
}

interface Base {
  readonly changedAt: string | null;
  readonly count: number;
  readonly contentVersion: number;
  /** Whether an earlier fetch may still change the titles. */
  readonly isContested: boolean;
}

function isUsable(base: Base, maxTitles: number): boolean {
  return base.count > 0 && base.count <= maxTitles && !base.isContested;
}

async function readBase(
  client: PoolClient,
  { date, fence }: Pick<Attempt, 'date' | 'fence'>,
): Promise<Base> {
  const { rows } = await client.query<Base & { hasTitles: boolean }>(
    `SELECT changed_at::text AS "changedAt", title_count AS count, content_version AS "contentVersion",
            title_count + withdrawn_count > 0 AS "hasTitles",
            EXISTS (SELECT FROM conciliation.pull
                    WHERE pull.date = day.date AND state = 'running' AND fence < $2) AS "isContested"
     FROM conciliation.day WHERE date = $1::date`,
    [date, fence],
  );
  const [base] = rows;
  if (base === undefined || !base.hasTitles) {
    const contentVersion = newestContentVersion();
    return { changedAt: null, count: 0, contentVersion, isContested: false };
  }
  requireKnownVersion(date, base.contentVersion);
  return base;
}

/** Of COPY's binary format: a signature of 11 bytes, flags, and the length of what follows them. */
const HEADER_BYTES = 19;
/** A count of fields, then each behind its length: the hash of the text, and that of the content. */
const ROW_BYTES = 2 + (4 + 16) + (4 + 16);
const RAW_HASH_OFFSET = 6;
const CONTENT_HASH_OFFSET = 26;

/** Null: the titles are not as many as the ledger says. */
async function copyHashes(
  client: PoolClient,
  { date }: Pick<Attempt, 'date'>,
  count: number,
): Promise<KnownTitles | null> {
  const titles = new KnownTitles(count);
  // COPY takes no parameters. A CivilDate is digits and hyphens, whatever it came from.
  const stream = client.query(
    copyTo(
      `COPY (SELECT raw_hash, content_hash FROM conciliation.title
             WHERE accepted_date = '${date}'::date AND status = 'current')
       TO STDOUT (FORMAT binary)`,
    ),
  );
  let rest: Buffer = Buffer.alloc(0);
  let toSkip = HEADER_BYTES;
  let rows = 0;
  const giveTurn = takeTurns();
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = Math.min(toSkip, bytes.length);
    toSkip -= at;
    for (; at + ROW_BYTES <= bytes.length; at += ROW_BYTES) {
      rows += 1;
      // More would not fit the table.
      if (rows <= count) titles.add(bytes, at + RAW_HASH_OFFSET, at + CONTENT_HASH_OFFSET);
    }
    rest = bytes.subarray(at);
    await giveTurn();
  }
  return rows === count ? titles : null;
}

const MISSING_PER_STATEMENT = 20_000;

/** Puts what was known of a response beside what was staged of it, for `planChanges`. */
export async function stageKnown(
  tx: Prisma.TransactionClient,
  fence: bigint,
  known: KnownResponse,
): Promise<void> {
  if (known.baseChangedAt === null) return;
  await tx.$executeRaw`
    INSERT INTO conciliation.staged_base (fence, known, base_changed_at)
    VALUES (${fence}, ${known.titles}::int, ${known.baseChangedAt}::timestamptz)`;
  let batch: MissingText[] = [];
  const flush = async () => {
    await tx.$executeRaw`
      INSERT INTO conciliation.staged_missing (fence, raw_hash, copies)
      SELECT ${fence}::bigint, hash, copies
      FROM unnest(${batch.map(({ rawHash }) => rawHash)}::uuid[],
                  ${batch.map(({ copies }) => copies)}::int[]) AS missing (hash, copies)`;
    batch = [];
  };
  for (const text of known.missing.missing()) {
    if (batch.push(text) === MISSING_PER_STATEMENT) await flush();
  }
  if (batch.length > 0) await flush();
}
