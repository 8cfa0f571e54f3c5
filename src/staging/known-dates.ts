import type { Pool, PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { type CivilDate, daysBetween } from '../domain/business-day.ts';
import { KnownTitles, type MissingText } from '../domain/known-titles.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { toStagingError } from './database.ts';
import type { Attempt } from './pull-ledger.ts';
import { takeTurns } from './turns.ts';

/** A date whose current titles are at hand while a response is read. */
export interface KnownDate {
  readonly date: CivilDate;
  /** `day.changed_at` then, to the microsecond: whether the titles are still those. */
  readonly baseChangedAt: string;
}

/** What of a window the table had when the reading began. */
export interface KnownDates {
  readonly dates: readonly KnownDate[];
  readonly titles: KnownTitles;
}

/** What a response said of the titles that were at hand, once it was read to its end. */
export interface KnownResponse {
  readonly dates: readonly KnownDate[];
  /** Titles of the response that were known, in all and by date. */
  readonly titles: { readonly total: number; readonly byDate: Uint32Array };
  /** What the response does not have. */
  readonly missing: Pick<KnownTitles, 'missing'>;
}

const NOTHING_KNOWN: KnownDates = { dates: [], titles: new KnownTitles(0) };

/** Texts that are kept at hand, 32 bytes each. The dates beyond are compared in the database. */
export const MAX_KNOWN_TITLES = 2_000_000;

/**
 * Reads which titles, by the hash of their text, the dates of an attempt's window have. A date is at
 * hand as a whole or not at all. Dates beyond `maxTitles` are not, nor are those that an earlier fetch
 * may still change: what differs from them would be void by the time it is merged.
 *
 * @throws StagingUnavailableError when the database goes away
 */
export async function loadKnownDates(
  pool: Pool,
  attempt: Pick<Attempt, 'window' | 'fence'>,
  maxTitles: number = MAX_KNOWN_TITLES,
): Promise<KnownDates> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toStagingError(error);
  });
  let failure: Error | undefined;
  try {
    if ((await chooseDates(client, attempt, maxTitles)).dates.length === 0) return NOTHING_KNOWN;
    // The ledger and the titles have to be of one moment.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const ledger = await chooseDates(client, attempt, maxTitles);
    const titles = new KnownTitles(ledger.titles);
    const isWhole = ledger.titles === 0 || (await copyHashes(client, ledger, titles));
    await client.query('COMMIT');
    // Where the ledger and the titles disagree, somebody was at work by hand: nothing is taken for
    // known, and the merge compares the titles themselves.
    return isWhole ? { dates: ledger.dates, titles } : NOTHING_KNOWN;
  } catch (error) {
    failure = error instanceof Error ? error : new Error('reading the known titles failed');
    throw toStagingError(error);
  } finally {
    client.release(failure);
  }
}

interface LedgerOfWindow {
  readonly dates: readonly KnownDate[];
  /** Current titles of all of them. */
  readonly titles: number;
}

async function chooseDates(
  client: PoolClient,
  { window, fence }: Pick<Attempt, 'window' | 'fence'>,
  maxTitles: number,
): Promise<LedgerOfWindow> {
  const { rows } = await client.query<KnownDate & { count: number }>(
    `SELECT date, changed_at::text AS "baseChangedAt", title_count AS count FROM conciliation.day
     WHERE date >= $1::date AND ($2::date IS NULL OR date <= $2::date) AND title_count > 0
       AND NOT EXISTS (
         SELECT FROM conciliation.pull
         WHERE state = 'running' AND fence < $3 AND window_from <= day.date
           AND (window_to IS NULL OR window_to >= day.date))
     ORDER BY date`,
    [window.from, window.to, fence],
  );
  const dates: KnownDate[] = [];
  let titles = 0;
  for (const { count, ...date } of rows) {
    if (titles + count > maxTitles) break;
    titles += count;
    dates.push(date);
  }
  return { dates, titles };
}

/** Of COPY's binary format: a signature of 11 bytes, flags, and the length of what follows them. */
const HEADER_BYTES = 19;
/** A count of fields, then each behind its length: days since the first date, and the hash. */
const ROW_BYTES = 2 + (4 + 4) + (4 + 16);
const DAYS_OFFSET = 6;
const HASH_OFFSET = 14;

/** Returns whether the titles were as many as the ledger says. */
async function copyHashes(
  client: PoolClient,
  ledger: LedgerOfWindow,
  titles: KnownTitles,
): Promise<boolean> {
  const [first] = ledger.dates;
  if (first === undefined) return false;
  const indexOfDays = new Map(
    ledger.dates.map(({ date }, index) => [daysBetween(first.date, date), index]),
  );
  // COPY takes no parameters. A CivilDate is digits and hyphens, whatever it came from.
  const list = ledger.dates.map(({ date }) => `'${date}'`).join(', ');
  const stream = client.query(
    copyTo(
      `COPY (SELECT accepted_date - '${first.date}'::date, raw_hash FROM conciliation.title
             WHERE accepted_date = ANY(ARRAY[${list}]::date[]) AND status = 'current')
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
      if (rows > ledger.titles) continue;
      const index = indexOfDays.get(bytes.readInt32BE(at + DAYS_OFFSET));
      if (index !== undefined) titles.add(bytes, at + HASH_OFFSET, index);
    }
    rest = bytes.subarray(at);
    await giveTurn();
  }
  return rows === ledger.titles;
}

const MISSING_PER_STATEMENT = 20_000;

/** Puts what was known of a response beside what was staged of it, for `planChanges`. */
export async function stageKnown(
  tx: Prisma.TransactionClient,
  fence: bigint,
  known: KnownResponse,
): Promise<void> {
  if (known.dates.length === 0) return;
  const dates = known.dates.map((date, index) => ({ ...date, known: known.titles.byDate[index] }));
  await tx.$executeRaw`
    INSERT INTO conciliation.staged_date (fence, date, known, base_changed_at)
    SELECT ${fence}::bigint, date, known, "baseChangedAt"
    FROM jsonb_to_recordset(${JSON.stringify(dates)}::jsonb) AS staged
      (date date, known int, "baseChangedAt" timestamptz)`;
  let batch: MissingText[] = [];
  const flush = async () => {
    await tx.$executeRaw`
      INSERT INTO conciliation.staged_missing (fence, date, raw_hash, copies)
      SELECT ${fence}::bigint, (${known.dates.map(({ date }) => date)}::date[])[1 + index], hash, copies
      FROM unnest(${batch.map(({ dateIndex }) => dateIndex)}::int[],
                  ${batch.map(({ rawHash }) => rawHash)}::uuid[],
                  ${batch.map(({ copies }) => copies)}::int[]) AS missing (index, hash, copies)`;
    batch = [];
  };
  for (const text of known.missing.missing()) {
    if (batch.push(text) === MISSING_PER_STATEMENT) await flush();
  }
  if (batch.length > 0) await flush();
}
