import { setMaxListeners } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { type CivilDate, toCivilDate } from '../../src/base/values/business-day.ts';
import { createSeededRandom, type SeededRandom } from '../../src/demo/synthetic-titles.ts';
import { withClient } from '../support/client.ts';
import { daysFrom } from '../support/pull-world.ts';
import { type Sandbox, startSandbox } from '../support/sandbox/sandbox.ts';
import { checkDay } from './check-end.ts';
import { FaultyPostgres } from './faulty-postgres.ts';
import { FeedProcess, type FeedProcessSettings } from './feed-process.ts';
import { createTemplate, DATABASES, type DatabaseTemplate, openRunFolder } from './run-folder.ts';
import { rowSql, ServedDays } from './served-days.ts';
import { Violations } from './violations.ts';

const WRITERS = 16;
const FIRST_DATE = toCivilDate('2000-01-03');
const DATES_PER_WRITER = 500;
/** One pull in so many is of a date without titles. */
const FRESH_SHARE = 8;
const READERS = ['killed reader 1', 'killed reader 2', 'reader of the standby', 'steady reader'];
const KILLED_READERS = 2;
const STANDBY_READER = 2;
/** Longer than everything that a writer waits for: a lock of the product, its own retries, recovery. */
const END_LIMIT_MS = 180_000;
const SHOWN_VIOLATIONS = 20;

/** Seconds between two faults of a kind, least and most. */
const INTERVALS = {
  stop: [3, 7],
  closingStop: [20, 30],
  writerKill: [15, 25],
  readerKill: [2, 5],
  serverKill: [60, 90],
} as const;
type Fault = keyof typeof INTERVALS;

/** The command line of the feed harness. Returns its exit status. */
export async function runFeed(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
  });
  const seconds = Number(values.minutes) * 60;
  const template = await createTemplate();
  const [primary, standby] = await startPair(template);
  const sandbox = await startSandbox();
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-feed-'));
  const run = new FeedRun(sandbox, folder, values.seed);
  try {
    await run.play(primary, standby, seconds);
    return await run.report();
  } finally {
    await run.close();
    await sandbox.close();
    for (const server of [standby, primary]) await server.stop();
    await template.remove();
  }
}

/** A primary, and a hot standby made of a cold copy of the same data folder. */
async function startPair(template: DatabaseTemplate): Promise<[FaultyPostgres, FaultyPostgres]> {
  const { cluster } = await openRunFolder(template, 'primary', false);
  const copy = (await openRunFolder(template, 'standby', false)).cluster;
  const primary = await FaultyPostgres.start(cluster);
  await withClient(primary.url(DATABASES.migrated), (client) =>
    // Keeps the WAL that the standby has not received yet.
    client.query(`SELECT pg_create_physical_replication_slot('standby', true)`),
  );
  const { user, password } = cluster.credentials;
  const address = `host=127.0.0.1 port=${primary.port} user=${user} password=${password}`;
  await writeFile(join(copy.clusterDir, 'standby.signal'), '');
  await appendFile(
    join(copy.clusterDir, 'postgresql.conf'),
    `primary_conninfo = '${address}'\nprimary_slot_name = 'standby'\n` +
      `hot_standby_feedback = on\nwal_retrieve_retry_interval = 200ms\n`,
  );
  return [primary, await FaultyPostgres.start(copy)];
}

class FeedRun {
  readonly #sandbox: Sandbox;
  readonly #folder: string;
  readonly #seed: string;
  readonly #random: SeededRandom;
  readonly #served: ServedDays;
  readonly #violations = new Violations();
  readonly #writers: FeedProcess[] = [];
  readonly #readers: FeedProcess[] = [];
  /** Of each writer: how many dates have titles, and the date that is being pulled. */
  readonly #begun = Array.from({ length: WRITERS }, () => 0);
  readonly #pulling: (CivilDate | null)[] = Array.from({ length: WRITERS }, () => null);
  readonly #counts = {
    ...{ pulls: 0, stop: 0, closingStop: 0, writerKill: 0, readerKill: 0, serverKill: 0 },
    /** Of `title_change`, and lines in the files of all readers. */
    ...{ changes: 0, read: 0 },
  };
  #isEnding = false;

  constructor(sandbox: Sandbox, folder: string, seed: string) {
    this.#sandbox = sandbox;
    this.#folder = folder;
    this.#seed = seed;
    this.#random = createSeededRandom(`feed titles ${seed}`);
    this.#served = new ServedDays(sandbox, this.#random);
  }

  /** Writers, readers and faults for so many seconds; then all of the feed is compared. */
  async play(server: FaultyPostgres, standby: FaultyPostgres, seconds: number): Promise<void> {
    this.#startWriters(server.url(DATABASES.migrated));
    this.#startReaders(server.url(DATABASES.migrated), standby.url(DATABASES.migrated));
    while (this.#counts.pulls < WRITERS) await sleep(100);
    await this.#breakThings(server, seconds);
    await this.#untilWritersEnd();
    await withClient(server.url(DATABASES.migrated), (client) => this.#check(client));
    const restarts = [...this.#writers, ...this.#readers].reduce((sum, at) => sum + at.restarts, 0);
    if (this.#counts.changes === 0) this.#violations.add('harness', 'nothing changed');
    const violations = this.#violations.found.length;
    say(JSON.stringify({ seconds, ...this.#counts, restarts, violations }));
  }

  async report(): Promise<number> {
    const { found } = this.#violations;
    for (const { guarantee, what } of found.slice(0, SHOWN_VIOLATIONS)) {
      say(`VIOLATION (${guarantee}) ${what}`);
    }
    if (found.length === 0) await rm(this.#folder, { recursive: true });
    else say(`${found.length} violations; seed ${this.#seed}; files: ${this.#folder}`);
    return found.length === 0 ? 0 : 1;
  }

  async close(): Promise<void> {
    for (const child of [...this.#writers, ...this.#readers]) await child.kill();
  }

  #startWriters(databaseUrl: string): void {
    const environment = {
      DATABASE_URL: databaseUrl,
      PLATFORM_BASE_URL: this.#sandbox.baseUrl,
      PLATFORM_TOKEN: this.#sandbox.issueToken(),
      START_DATE: FIRST_DATE,
      WITHDRAWAL_LIMIT_PERCENT: '100',
    };
    for (let index = 0; index < WRITERS; index += 1) {
      const writer: FeedProcess = this.#start(`writer ${index + 1}`, {
        script: 'feed-writer.mjs',
        environment,
        onMessage: ({ isDone }) => writer.send({ date: this.#nextDate(index, isDone === true) }),
      });
      this.#writers.push(writer);
    }
  }

  #startReaders(databaseUrl: string, standbyUrl: string): void {
    for (const [index, name] of READERS.entries()) {
      const url = index === STANDBY_READER ? standbyUrl : databaseUrl;
      const settings = { file: this.#fileOf(name), databaseUrl: url, query: READER_QUERY };
      const environment = { FEED_READER: JSON.stringify(settings) };
      this.#readers.push(this.#start(name, { script: 'feed-reader.mjs', environment }));
    }
  }

  #start(
    name: string,
    settings: Pick<FeedProcessSettings, 'script' | 'environment' | 'onMessage'>,
  ): FeedProcess {
    const logFile = join(this.#folder, `${name}.log`);
    const child: FeedProcess = new FeedProcess({
      ...{ name, logFile, ...settings },
      onEnd: (status) => {
        if (status === '0' && this.#isEnding) return;
        this.#violations.add('harness', `${name}: ended with ${status}, see ${logFile}`);
        if (!this.#isEnding) child.restart();
      },
    });
    return child;
  }

  #fileOf(reader: string): string {
    return join(this.#folder, `${reader}.feed`);
  }

  /** The date that the writer pulls next, after its change at the platform; null: no further date. */
  #nextDate(writer: number, isDone: boolean): CivilDate | null {
    if (isDone) {
      this.#counts.pulls += 1;
      this.#pulling[writer] = null;
    }
    // A writer that was killed has not said that the date is done: the next process pulls the date.
    const unfinished = this.#pulling[writer] ?? null;
    if (unfinished !== null || this.#isEnding) return unfinished;
    const begun = this.#begun[writer] ?? 0;
    const isFresh = begun === 0 || (begun < DATES_PER_WRITER && this.#random(FRESH_SHARE) === 0);
    const number = isFresh ? begun : this.#random(begun);
    const date = daysFrom(writer * DATES_PER_WRITER + number, FIRST_DATE);
    if (isFresh) {
      // Merges that name the same parties wait for each other there: every second writer has its own.
      const parties = writer % 2 === 0 ? `${writer}-` : '';
      this.#served.begin(date, 20 + this.#random(40), parties);
      this.#begun[writer] = begun + 1;
    } else {
      for (let times = this.#random(8); times >= 0; times -= 1) this.#served.restate(date);
    }
    this.#pulling[writer] = date;
    return date;
  }

  /** Does faults of every kind until the time is over. All that was stopped or killed runs again then. */
  async #breakThings(server: FaultyPostgres, seconds: number): Promise<void> {
    const signal = AbortSignal.timeout(seconds * 1000);
    setMaxListeners(0, signal);
    const wait = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
    const pauses: Promise<void>[] = [];
    const pause = async (random: SeededRandom, point: string | null, longestMs: number) => {
      const writer = this.#writers[random(WRITERS)];
      if (writer === undefined || writer.isPaused || !writer.isAlive) return;
      // Most stops are short: a writer that is stopped while it waits for the closing phase is given the lock
      // as its turn comes, and all others wait for that writer.
      const ms = 1_000 * (longestMs / 1_000) ** (random(1_000) / 1_000);
      const wasStopped = await writer.pause(point, () => wait(ms));
      if (wasStopped) this.#counts[point === null ? 'stop' : 'closingStop'] += 1;
    };
    const faults: Record<Fault, (random: SeededRandom) => Promise<void>> = {
      stop: async (random) => void pauses.push(pause(random, null, 20_000)),
      // The numbers are drawn, and the COMMIT is not sent.
      closingStop: async (random) => void pauses.push(pause(random, 'before-commit', 10_000)),
      writerKill: async (random) => {
        await killAndRestart(this.#writers[random(WRITERS)]);
        this.#counts.writerKill += 1;
      },
      readerKill: async (random) => {
        await killAndRestart(this.#readers[random(KILLED_READERS)]);
        this.#counts.readerKill += 1;
      },
      serverKill: async (random) => {
        server.killNow();
        this.#counts.serverKill += 1;
        await wait(random(2_000));
        await server.ensureUp();
      },
    };
    const repeat = async (fault: Fault) => {
      const random = createSeededRandom(`feed ${this.#seed} ${fault}`);
      // A short run also has two faults of each kind.
      const [least, most] = INTERVALS[fault].map((limit) => Math.min(limit, seconds / 3)) as [
        number,
        number,
      ];
      for (;;) {
        await wait(1000 * least + random(1 + 1000 * (most - least)));
        if (signal.aborted) return;
        await faults[fault](random);
      }
    };
    await Promise.all((Object.keys(faults) as Fault[]).map(repeat));
    this.#isEnding = true;
    // A writer that was told to stop in the closing phase may do so while the writers end.
    await Promise.race([Promise.all(pauses), sleep(END_LIMIT_MS)]);
  }

  async #untilWritersEnd(): Promise<void> {
    const deadline = Date.now() + END_LIMIT_MS;
    while (this.#writers.some(({ isAlive }) => isAlive) && Date.now() < deadline) await sleep(100);
    for (const [index, writer] of this.#writers.entries()) {
      if (writer.isAlive) {
        this.#violations.add('harness', `${writer.name}: does not end, at ${this.#pulling[index]}`);
      }
      await writer.kill();
    }
  }

  async #check(client: Client): Promise<void> {
    const changes = await readChanges(client);
    const last = lastNumber(changes);
    const deadline = Date.now() + END_LIMIT_MS;
    for (const reader of this.#readers) {
      const file = this.#fileOf(reader.name);
      while (lastNumber(await readLines(file)) < last && Date.now() < deadline) await sleep(200);
      await reader.kill();
      const read = { name: reader.name, lines: await readLines(file) };
      this.#counts.read += read.lines.length;
      await checkReader(client, read, changes, this.#violations);
    }
    await checkTables(client, this.#served, this.#violations);
    this.#counts.changes = changes.length;
  }
}

async function killAndRestart(child: FeedProcess | undefined): Promise<void> {
  await child?.kill();
  child?.restart();
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const PAGE = 500;

const state = (alias: string) => `${alias}.status || ' ' || md5(${rowSql(alias)})`;

/** The query of a reader: its line is `change_seq id kind status` and the MD5 of the current title. */
const READER_QUERY = `
  SELECT change_seq::text AS seq,
         concat_ws(' ', change_seq, id, change_kind, ${state('feed')}) AS line
  FROM conciliation.title_feed AS feed WHERE change_seq > $1 ORDER BY change_seq LIMIT ${PAGE}`;

/** Changes by their cause: each title was inserted once, each revision is one change. */
const UNMATCHED = `
  WITH cause AS (
    SELECT id AS title_id, 'inserted' AS kind, first_pull_id AS pull_id FROM conciliation.title
    UNION ALL SELECT title_id, kind, pull_id FROM conciliation.title_revision
  ), change AS (SELECT title_id, kind, pull_id FROM conciliation.title_change)
  SELECT 'has no number' AS fault, * FROM (SELECT * FROM cause EXCEPT ALL SELECT * FROM change) AS a
  UNION ALL
  SELECT 'has a number too many', * FROM (SELECT * FROM change EXCEPT ALL SELECT * FROM cause) AS b`;

/** The rows of `title_change` as `change_seq id kind`. */
async function readChanges(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(`
    SELECT concat_ws(' ', change_seq, title_id, kind) AS text
    FROM conciliation.title_change ORDER BY change_seq`);
  return rows.map(({ text }) => text);
}

/** The complete lines of a reader's file. */
async function readLines(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(0, -1);
}

/** The number of the last line, 0 where there is none. */
function lastNumber(lines: readonly string[]): number {
  return Number.parseInt(lines.at(-1) ?? '0', 10);
}

/** A reader's file has exactly the changes, in order, and each title's last line shows the title as it is. */
async function checkReader(
  client: Client,
  reader: { readonly name: string; readonly lines: readonly string[] },
  changes: readonly string[],
  violations: Violations,
): Promise<void> {
  const fail = (what: string) => violations.add(9, `${reader.name}: ${what}`);
  const states = new Map<string, string>();
  const told = reader.lines.map((line) => {
    const [number, id = '', kind, ...state] = line.split(' ');
    states.set(id, state.join(' '));
    return `${number} ${id} ${kind}`;
  });
  const length = Math.max(told.length, changes.length);
  const at = Array.from({ length }).findIndex((_, index) => told[index] !== changes[index]);
  if (at !== -1) fail(`change ${at + 1} of all is ${told[at]}, expected ${changes[at]}`);

  const { rows } = await client.query<{ id: string; state: string }>(`
    SELECT id::text, ${state('title')} AS state FROM conciliation.title AS title`);
  for (const { id, state } of rows) {
    const told = states.get(id) ?? 'nothing';
    if (told !== state) fail(`the last row of title ${id} told ${told}, expected ${state}`);
  }
}

/** Each change has one number, and each date equals the platform's answer. */
async function checkTables(
  client: Client,
  served: ServedDays,
  violations: Violations,
): Promise<void> {
  const { rows } = await client.query<Record<string, string>>(UNMATCHED);
  for (const { fault, title_id, kind, pull_id } of rows) {
    violations.add(9, `title_change: ${kind} of title ${title_id} by pull ${pull_id} ${fault}`);
  }
  for (const date of served.dates) await checkDay(client, date, served, violations);
}
