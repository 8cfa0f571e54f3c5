import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultPoint } from '../../src/base/runtime/fault-points.ts';
import { createSeededRandom, pick, type SeededRandom } from '../../src/demo/synthetic-titles.ts';
import { queryOnce, withClient } from '../support/client.ts';
import type { RedisServer } from '../support/redis.ts';
import type { FaultyPostgres } from './faulty-postgres.ts';
import type { FiredFault } from './faulty-service.ts';
import type { RunFolder } from './run-folder.ts';
import type { ProxyState, TcpProxy } from './tcp-proxy.ts';

export interface FaultTargets {
  readonly random: SeededRandom;
  readonly postgres: FaultyPostgres;
  readonly database: string;
  /** Null where the queue is in the database. */
  readonly redis: RedisServer | null;
  readonly links: Readonly<Record<'database' | 'queue' | 'platform', TcpProxy>>;
  readonly folder: RunFolder;
  /** Has a second process of the service running until the work in hand is done, or a while. */
  readonly takeOver: () => Promise<void>;
}

/** Returns what was done, in words. */
type Injection = (targets: FaultTargets, fired: FiredFault) => Promise<string>;

/** The time between a fault and its effect on the process, and the length of an outage. */
const upTo = (random: SeededRandom, ms: number) => sleep(random(ms));
const COMMIT_LIMIT_MS = 2_000;

/** The faults of a service that has reached a point, as `docs/faults.md` describes them. */
const INJECTIONS = {
  async kill(_targets, { process }) {
    process.send('SIGKILL');
    return 'SIGKILL';
  },

  async stop({ takeOver }, { process, release }) {
    process.send('SIGSTOP');
    release();
    await takeOver().finally(() => process.send('SIGCONT'));
    return 'SIGSTOP, and another process took over';
  },

  async terminate(targets, { release }) {
    const ended = await terminate(targets, "application_name LIKE 'conciliation%'");
    release();
    return `${ended} sessions terminated`;
  },

  async postgres({ random, postgres }, { release }) {
    postgres.killNow();
    release();
    await upTo(random, 500);
    await postgres.ensureUp();
    return 'PostgreSQL killed and started';
  },

  async queue(targets, { release }) {
    const { random, redis } = targets;
    if (redis === null) {
      await terminate(targets, "application_name = 'conciliation queue'");
      const lost = await loseJobs(targets);
      release();
      return `${lost} jobs of the queue lost, with its sessions`;
    }
    await redis.kill();
    release();
    await upTo(random, 700);
    await redis.restart();
    return 'Redis killed and started, empty';
  },

  async network({ random, redis, links }, { point, release }) {
    const names = LINKS.filter((link) => link !== 'queue' || redis !== null);
    // While an answer is arriving, the way that it comes on is the one to be cut.
    const isTransfer = TRANSFER_POINTS.has(point) && random(2) === 0;
    const name: (typeof LINKS)[number] = isTransfer
      ? 'platform'
      : pick(['database', ...names], random(1 + names.length));
    const state = pick<ProxyState>(['refuse', 'hang', 20 + random(60)], random(3));
    links[name].set(state);
    release();
    await sleep(100 + random(600));
    links[name].set('pass');
    return `the way to the ${name}: ${typeof state === 'number' ? `${state} ms late` : state}`;
  },

  async disk({ random, postgres, folder }, { release }) {
    await folder.fill();
    release();
    await sleep(200 + random(600));
    await folder.free();
    // A server that could not write its log of changes has ended itself.
    await postgres.ensureUp();
    return 'the disk was full for a while';
  },
} satisfies Readonly<Record<string, Injection>>;

export type FaultName = keyof typeof INJECTIONS;
export const FAULTS = Object.keys(INJECTIONS) as [FaultName, ...FaultName[]];

export type QueueName = 'postgres' | 'redis';

/** All that a run depends on: the same four give the same run, as far as processes allow. */
export interface RunCase {
  readonly seed: number;
  readonly point: FaultPoint;
  /** `none`: an ordinary run, to compare with. */
  readonly fault: FaultName | 'none';
  readonly queue: QueueName;
}

/** A separate source of random numbers, for events whose time is not known. */
export function streamOf({ seed, point, fault, queue }: RunCase, purpose: string): SeededRandom {
  return createSeededRandom(`${seed} ${point} ${fault} ${queue} ${purpose}`);
}

const LINKS = ['database', 'queue', 'platform'] as const;
const TRANSFER_POINTS: ReadonlySet<FaultPoint> = new Set(['headers', 'mid-body', 'mid-copy']);

export async function injectFault(
  name: FaultName,
  targets: FaultTargets,
  fired: FiredFault,
): Promise<string> {
  if (fired.sessionPid !== null) await untilCommitted(targets, fired.sessionPid);
  return INJECTIONS[name](targets, fired);
}

const urlOf = ({ postgres, database }: FaultTargets) => postgres.url(database);

/** The server has answered the COMMIT, even if no process reads the answer. */
async function untilCommitted(targets: FaultTargets, sessionPid: number): Promise<void> {
  await withClient(urlOf(targets), async (client) => {
    const deadline = Date.now() + COMMIT_LIMIT_MS;
    for (;;) {
      const { rows } = await client.query<{ state: string }>(
        'SELECT state FROM pg_stat_activity WHERE pid = $1',
        [sessionPid],
      );
      if (rows[0]?.state === 'idle' || Date.now() > deadline) return;
      await sleep(2);
    }
  });
}

async function terminate(targets: FaultTargets, condition: string): Promise<number> {
  const ended = await queryOnce(
    urlOf(targets),
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE ${condition} AND datname = current_database()`,
  );
  return ended.length;
}

async function loseJobs(targets: FaultTargets): Promise<number> {
  const url = urlOf(targets);
  const there = `SELECT FROM pg_tables WHERE schemaname = 'conciliation_queue' AND tablename = 'job'`;
  if ((await queryOnce(url, there)).length === 0) return 0;
  return (await queryOnce(url, 'DELETE FROM conciliation_queue.job RETURNING id')).length;
}
