import { randomUUID } from 'node:crypto';
import type { Database } from '../../base/database/database.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { type Loop, loop } from '../../base/runtime/timing.ts';
import type { ReadinessCheck } from '../../console/shell/readiness.ts';

/**
 * A fault that keeps a process of the service from its work. The process reports it to the table `process_fault`, from
 * which alerts are derived.
 */
export type ProcessFault =
  | 'token_refused'
  | 'token_unusable'
  | 'clock_skew'
  | 'planning_failed'
  | 'work_unrecorded';

/** After this time without a report, in milliseconds, a process has ended or is suspended. */
export const PROCESS_SILENCE_MS = 3 * 60_000;

/** A COMMIT takes milliseconds. */
const HUNG_COMMIT_MS = 10_000;

/**
 * Whether the database takes writes, and answers a COMMIT: for example, it does not when a synchronous standby is gone.
 * @param hungMs replaced in tests
 */
export function databaseCheck({ prisma }: Database, hungMs = HUNG_COMMIT_MS): ReadinessCheck {
  return {
    name: 'database',
    run: async () => {
      const [{ isReadOnly, commits }] = await prisma.$queryRaw<
        [{ isReadOnly: boolean; commits: number }]
      >`
        SELECT current_setting('transaction_read_only')::boolean AS "isReadOnly", count(*)::int AS commits
        FROM pg_stat_activity
        WHERE datname = current_database() AND usename = current_user AND state = 'active'
          AND query ~* '^commit'
          AND query_start < clock_timestamp() - make_interval(secs => ${hungMs / 1000}::float8)`;
      if (isReadOnly) return 'takes no writes';
      return commits === 0 ? null : `${commits} COMMIT(s) without an answer for ${hungMs / 1000} s`;
    },
  };
}

export const queueCheck = (isReachable: () => Promise<boolean>): ReadinessCheck => ({
  name: 'queue',
  run: async () => ((await isReachable()) ? null : 'not reachable'),
});

const TOKEN_FAULTS = {
  token_refused: 'the platform refuses the token',
  token_unusable: 'no usable token for a minute',
} as const;

/** Only for a process that has the worker role. */
export const tokenCheck = (
  findFault: () => Promise<keyof typeof TOKEN_FAULTS | null>,
): ReadinessCheck => ({
  name: 'token',
  run: async () => {
    const fault = await findFault();
    return fault && TOKEN_FAULTS[fault];
  },
});

/** Three ticks: one may be late and one may be lost. */
const MAX_TICK_AGE_MS = 180_000;

/** Only for a process that has the scheduler role. Null: there was no tick yet. */
export function schedulerCheck(
  lastTickAt: () => Date | null,
  now: () => Date = () => new Date(),
): ReadinessCheck {
  return {
    name: 'scheduler',
    run: async () => {
      const tickAt = lastTickAt();
      if (tickAt === null) return 'no tick yet';
      const ageMs = now().getTime() - tickAt.getTime();
      return ageMs < MAX_TICK_AGE_MS ? null : `last tick ${Math.round(ageMs / 1000)} s ago`;
    },
  };
}

/**
 * Replaces the faults of a process, by those that it reports, and removes the faults of processes that have ended.
 * All instants are by the database's clock.
 *
 * @param processId a number that identifies the reporting process, drawn at its start
 */
export async function reportFaults(
  database: Database,
  processId: string,
  faults: readonly ProcessFault[],
): Promise<void> {
  await database.prisma.$executeRaw`
    INSERT INTO conciliation.process_fault (process_id, kind)
    SELECT ${processId}::uuid, kind FROM unnest(${faults}::text[]) AS reported (kind)
    ON CONFLICT (process_id, kind) DO UPDATE SET seen_at = clock_timestamp()`;
  await database.prisma.$executeRaw`
    DELETE FROM conciliation.process_fault
    WHERE (process_id = ${processId}::uuid AND kind <> ALL(${faults}::text[]))
       OR seen_at < clock_timestamp() - make_interval(secs => ${PROCESS_SILENCE_MS / 1000}::float8)`;
}

const INTERVAL_MS = 15_000;

/**
 * Reports at once, and then every 15 seconds, the faults that keep this process from its work. The last report stays in
 * the table for `PROCESS_SILENCE_MS`.
 */
export function startFaultReports(parts: {
  readonly database: Database;
  readonly logger: Logger;
  readonly read: () => Promise<readonly ProcessFault[]>;
  readonly intervalMs?: number;
}): Loop {
  const { database, logger, read, intervalMs = INTERVAL_MS } = parts;
  const processId = randomUUID();
  return loop({
    everyMs: intervalMs,
    run: async () => reportFaults(database, processId, await read()),
    failure: { logger, message: 'the faults of this process were not reported' },
  });
}
