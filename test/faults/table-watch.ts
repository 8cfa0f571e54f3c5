import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { withClient } from '../support/client.ts';
import { AMOUNTS, DIGEST_SQL, rowSql, type ServedDays } from './served-days.ts';
import type { Violations } from './violations.ts';

const INTERVAL_MS = 40;
const RETRY_MS = 100;
const SESSION = { application_name: 'observer', connectionTimeoutMillis: 30_000 };

/** Tables that are not there yet are an outage like any other. */
const OUTAGE = /^(08|57P|53|42P01|3F000|25P02|55006)|^(ECONN|EPIPE)/;

/** Cheap beside any look: the planner has nothing to do, and no table is read. */
const SNAPSHOT = { name: 'snapshot', text: 'SELECT pg_current_snapshot()::text AS snapshot' };

const sums = AMOUNTS.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(', ');
const sumsAgree = AMOUNTS.map((name) => `coalesce(title.${name}, 0) = day.${name}_sum`).join(
  ' AND ',
);

/** The state of each date in one snapshot of a reader: titles and ledger. */
const DAYS = `
  WITH title AS (
    SELECT accepted_date AS date, count(*) AS titles, ${DIGEST_SQL} AS digest, ${sums}
    FROM (SELECT *, ${rowSql('title')} AS row FROM conciliation.title WHERE status = 'current') AS title
    GROUP BY accepted_date
  )
  SELECT coalesce(title.date, day.date)::text AS date, coalesce(title.titles, 0)::int AS titles,
         coalesce(title.digest, md5('')) AS digest, day.state, day.last_pull_id::text AS pull,
         coalesce(title.titles, 0) = day.title_count AND ${sumsAgree} AS agrees,
         day.signed_off_digest AS sealed, day.content_digest AS content,
         day.restated_after_sign_off AS restated
  FROM title FULL JOIN conciliation.day AS day ON day.date = title.date`;

const REVISIONS = `
  SELECT title_id || '/' || revision AS key, to_jsonb(entry)::text AS text
  FROM conciliation.title_revision AS entry`;

/** A pull that has ended; one that is held may still be decided. */
const ENDED = `
  SELECT id::text AS key, (to_jsonb(pull) - 'requested_by')::text AS text FROM conciliation.pull
  WHERE state IN ('merged', 'unchanged', 'superseded', 'failed', 'cancelled')`;

const IDS = 'SELECT id::text AS key, accepted_date::text AS text FROM conciliation.title';

interface DayLook {
  readonly date: string;
  readonly titles: number;
  readonly digest: string;
  readonly state: string | null;
  readonly pull: string | null;
  /** Null: titles without a row of the ledger. */
  readonly agrees: boolean | null;
  readonly sealed: string | null;
  readonly content: string | null;
  readonly restated: boolean | null;
}

/** A reader of the tables that looks all the time, each time in one snapshot. */
export class TableWatch {
  /** The content of a date after a pull, by `date/pull`, if a snapshot was taken at that time. */
  readonly statesSeen = new Map<string, string>();
  readonly #served: ServedDays;
  readonly #violations: Violations;
  readonly #versions = new Map<string, number>();
  readonly #lasting = [
    { query: REVISIONS, guarantee: 4, what: 'revision', rows: new Map<string, string>() },
    { query: ENDED, guarantee: 7, what: 'ended pull', rows: new Map<string, string>() },
    { query: IDS, guarantee: 4, what: 'title', rows: new Map<string, string>() },
  ] as const;
  readonly #ended: Promise<void>;
  #isStopping = false;

  constructor(databaseUrl: string, served: ServedDays, violations: Violations) {
    this.#served = served;
    this.#violations = violations;
    this.#ended = this.#watch(databaseUrl);
    // `stop` throws it.
    this.#ended.catch(() => {});
  }

  /** Ends after one last look that succeeded. An error that is not an outage is a defect of the test. */
  stop(): Promise<void> {
    this.#isStopping = true;
    return this.#ended;
  }

  /** On a separate connection, which may be lost at any time. */
  async #watch(databaseUrl: string): Promise<void> {
    for (;;) {
      try {
        return await withClient(databaseUrl, (client) => this.#lookOn(client), SESSION);
      } catch (error) {
        if (!isOutage(error)) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  /**
   * Looks at once, and from then on whenever a transaction has begun or ended since: as long as the
   * snapshot is the same, so is every row that a look would see, and it is spared.
   */
  async #lookOn(client: Client): Promise<void> {
    // Of this session only: a server that was killed may give numbers of transactions out again.
    let lastSnapshot = '';
    for (;;) {
      const isLast = this.#isStopping;
      // Read before the look, which may see more: then the next one only sees it twice.
      const { rows } = await client.query<{ snapshot: string }>(SNAPSHOT);
      const snapshot = rows[0]?.snapshot ?? '';
      if (isLast || snapshot !== lastSnapshot) await this.#look(client);
      if (isLast) return;
      lastSnapshot = snapshot;
      await sleep(INTERVAL_MS);
    }
  }

  async #look(client: Client): Promise<void> {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows: days } = await client.query<DayLook>(DAYS);
    for (const day of days) this.#lookAtDay(day);
    for (const { query, guarantee, what, rows: known } of this.#lasting) {
      const { rows } = await client.query<{ key: string; text: string }>(query);
      const now = new Map(rows.map(({ key, text }) => [key, text]));
      for (const [key, text] of known) {
        if (now.get(key) === text) continue;
        const change = now.has(key) ? 'changed' : 'vanished';
        this.#violations.add(guarantee, `${what} ${key} ${change}: ${text} → ${now.get(key)}`);
      }
      for (const [key, text] of now) known.set(key, text);
    }
    await client.query('COMMIT');
  }

  #lookAtDay(day: DayLook): void {
    const { date, titles, digest, state, pull } = day;
    if (day.agrees !== true) {
      this.#violations.add(2, `${date}: ${titles} titles are not what the ledger says (${pull})`);
    }
    const version = this.#served.versionOf(date, digest);
    if (version === -1 && (titles > 0 || state === 'reconciled')) {
      this.#violations.add(2, `${date}: ${titles} titles that no answer had (pull ${pull})`);
      return;
    }
    const earlier = this.#versions.get(date) ?? -1;
    if (version < earlier) {
      this.#violations.add(7, `${date} went back from answer ${earlier} to ${version} (${pull})`);
    }
    this.#versions.set(date, version);
    if (pull !== null) this.statesSeen.set(`${date}/${pull}`, digest);
    if (day.sealed !== null && day.sealed !== day.content && day.restated !== true) {
      this.#violations.add(6, `${date} was signed off, has changed and is not flagged`);
    }
  }
}

function isOutage(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return OUTAGE.test(code);
  return /terminated|timeout|ended|not queryable/i.test(String(message));
}
