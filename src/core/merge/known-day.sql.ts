import type { Pool, PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { toStagingError } from '../../base/database/database.ts';
import { ConfigError } from '../../base/runtime/errors.ts';
import { takeTurns } from '../../base/runtime/turns.ts';
import type { Attempt } from '../ledger/pull-ledger.sql.ts';
import { KnownTitles } from '../reader/known-texts.ts';
import { newestContentVersion, requireKnownVersion } from '../title/title.ts';

/** The titles that a date has before its response is read. */
export interface KnownDay {
  /**
   * `day.changed_at` at that time, to the microsecond. The merge compares it, to detect that the titles
   * have changed since. Null: no title is known.
   */
  readonly baseChangedAt: string | null;
  readonly titles: KnownTitles;
  /** Of the content hashes of the date; see `CONTENT_VERSIONS`. */
  readonly contentVersion: number;
}

/** The titles of a larger date are compared in the database. A known title takes 48 bytes of memory. */
const MAX_KNOWN_TITLES = 2_000_000;

/**
 * Reads the hashes of the texts of all titles that the date of an attempt has. No title is known of a date
 * with more than `maxTitles` titles, and of a date that an earlier fetch may still change: a difference
 * from its titles would no longer hold when it is merged.
 *
 * @throws StagingUnavailableError if the database becomes unavailable
 * @throws ConfigError when a newer version of the program has written the date
 */
export async function readKnownDay(
  pool: Pool,
  attempt: Pick<Attempt, 'date' | 'fence'>,
  maxTitles: number = MAX_KNOWN_TITLES,
): Promise<KnownDay> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toStagingError(error);
  });
  let failure: Error | undefined;
  try {
    // One snapshot for the ledger and the titles.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const base = await readBase(client, attempt);
    const isUsable = base.count > 0 && base.count <= maxTitles && !base.isContested;
    const titles = isUsable ? await copyHashes(client, attempt, base.count) : null;
    await client.query('COMMIT');
    // The ledger and the titles disagree only after a change by hand. Then no title counts as known, and
    // the merge compares the titles themselves.
    const { changedAt, contentVersion } = base;
    if (titles === null) return { baseChangedAt: null, titles: new KnownTitles(0), contentVersion };
    return { baseChangedAt: changedAt, titles, contentVersion };
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

/** The header of COPY's binary format: a signature of 11 bytes, flags, and the length of an extension. */
const HEADER_BYTES = 19;
/** A row: the number of fields, then for each of the two hashes its length and its bytes. */
const ROW_BYTES = 2 + (4 + 16) + (4 + 16);
const RAW_HASH_OFFSET = 6;
const CONTENT_HASH_OFFSET = 26;

/** Null: the number of titles is not the ledger's. */
async function copyHashes(
  client: PoolClient,
  { date }: Pick<Attempt, 'date'>,
  count: number,
): Promise<KnownTitles | null> {
  const titles = new KnownTitles(count);
  // COPY takes no parameters. A CivilDate consists of digits and hyphens.
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
      // The table has room for `count` titles.
      if (rows <= count) titles.add(bytes, at + RAW_HASH_OFFSET, at + CONTENT_HASH_OFFSET);
    }
    rest = bytes.subarray(at);
    await giveTurn();
  }
  return rows === count ? titles : null;
}
