// One measured run of one side: a clean database, a new process, the clock, and a look at what it
// left behind.
import { startChild } from './child.mjs';
import { CONTAINER_ENVIRONMENT, CONTAINER_FLAGS } from './container.mjs';
import { describeTables } from './tables.mjs';

/**
 * @import { CivilDate } from '#dist/domain/business-day.js'
 * @import { Case } from './cases.mjs'
 * @import { Child } from './child-types.ts'
 * @import { MeterReading } from './meter.mjs'
 * @import { PullCounts } from './pull-process.mjs'
 * @import { RenderedAnswers, RenderedRequest } from './render-process.mjs'
 * @import { Server } from './server.mjs'
 * @import { StatementTime } from './statement-times.mjs'
 * @import { Tables } from './tables.mjs'
 */

const WARM_UP = 'bench_warm_up';

/**
 * What all runs have in common.
 *
 * @typedef {object} Bench
 * @property {Server} server
 * @property {Child<'sandbox-process.mjs'>} sandbox
 * @property {{ baseUrl: string, token: string }} address of the sandbox
 * @property {RenderedRequest} warmUp
 * @property {CivilDate} today the day after every measured date
 *
 * @typedef {object} Run
 * @property {'ours' | 'limit'} program
 * @property {string} database that is clean
 * @property {CivilDate} startDate of the ledger, which counts where the database has none
 * @property {RenderedAnswers} answers
 * @property {Pick<Case, 'pullsAtOnce' | 'processes' | 'latencyMs'>} spec
 * @property {string | undefined} [profileDirectory]
 *
 * @typedef {MeterReading & { titles: number } & Partial<PullCounts> &
 *   { statements?: StatementTime[] | null }} ProgramReading what the measured process tells
 *
 * @typedef {Omit<ProgramReading, 'window' | 'statements'> & {
 *   titlesPerSecond: number,
 *   databaseCpuSeconds: number | null,
 *   walBytesPerTitle: number,
 *   tables: Tables,
 *   profiled?: { window: MeterReading['window'], statements: StatementTime[] },
 * }} Measured
 */

/**
 * @param {Bench} bench
 * @param {Run} run
 * @returns {Promise<Measured>}
 */
export async function measure(bench, run) {
  const { server } = bench;
  const { answers, database, profileDirectory } = run;
  const { pullsAtOnce = 1, latencyMs = 0 } = run.spec;
  await bench.sandbox.call('serve', { requests: [bench.warmUp, ...answers.requests], latencyMs });
  await server.inDatabase(database, (client) => client.query('SELECT pg_stat_reset()'));
  const program = await openProgram(bench, run);
  try {
    await server.settle();
    const before = await server.readUsage();
    const { window, statements, ...measured } = await program.run({
      requests: answers.requests,
      withdraws: answers.withdrawn > 0,
      pullsAtOnce,
    });
    // Before the sessions end: the CPU time of a session that is just ending is nowhere for a moment.
    const after = await server.readUsage();
    await program.close();
    await program.stop();

    const dates = answers.requests.map(({ window: { from } }) => from);
    const tables = await server.inDatabase(database, (client) =>
      describeTables(client, run.program, dates),
    );
    return {
      ...measured,
      titlesPerSecond: (1000 * answers.titles) / measured.elapsedMs,
      databaseCpuSeconds:
        before.cpuSeconds === null || after.cpuSeconds === null
          ? null
          : after.cpuSeconds - before.cpuSeconds,
      walBytesPerTitle: (after.walBytes - before.walBytes) / answers.titles,
      tables,
      ...(profileDirectory === undefined
        ? {}
        : { profiled: { window, statements: statements ?? [] } }),
    };
  } finally {
    await program.stop();
  }
}

/**
 * @typedef {object} Program
 * @property {(asked: RunOptions) => Promise<ProgramReading>} run
 * @property {() => Promise<void>} close
 * @property {() => Promise<void>} stop
 *
 * @typedef {{ requests: RenderedRequest[], withdraws: boolean, pullsAtOnce: number }} RunOptions
 */

/**
 * @param {Bench} bench
 * @param {Run} run
 * @returns {Promise<Program>}
 */
async function openProgram(bench, run) {
  if (run.program === 'limit') {
    const child = startChild('limit-process.mjs');
    await child.call('open', { databaseUrl: bench.server.urlOf(run.database) });
    return {
      run: (asked) => child.call('run', asked),
      close: () => child.call('close'),
      stop: child.stop,
    };
  }
  const { processes = 1 } = run.spec;
  /** @type {Child<'pull-process.mjs'>[]} */
  const children = [];
  for (let started = 0; started < processes; started++) children.push(await openPulls(bench, run));
  return {
    async run({ requests, pullsAtOnce, ...asked }) {
      const readings = await Promise.all(
        children.map((child, place) =>
          child.call('run', {
            ...asked,
            requests: requests.filter((_request, index) => index % processes === place),
            pullsAtOnce: pullsAtOnce / processes,
          }),
        ),
      );
      return readings.reduce(addReadings);
    },
    close: async () => {
      await Promise.all(children.map((child) => child.call('close')));
    },
    stop: async () => {
      await Promise.all(children.map((child) => child.stop()));
    },
  };
}

/**
 * @param {Bench} bench
 * @param {Run} run
 */
async function openPulls(
  { server, address, warmUp, today },
  { database, startDate, profileDirectory },
) {
  const execArgv = [...CONTAINER_FLAGS];
  if (profileDirectory !== undefined) {
    execArgv.push('--cpu-prof', `--cpu-prof-dir=${profileDirectory}`, '--cpu-prof-interval=500');
  }
  const child = startChild('pull-process.mjs', { execArgv, environment: CONTAINER_ENVIRONMENT });
  await child.call('open', {
    address,
    databaseUrl: server.urlOf(database),
    warmUp: { databaseUrl: await server.createDatabase(WARM_UP), window: warmUp.window },
    startDate,
    today,
    profile: profileDirectory !== undefined,
  });
  return child;
}

/** @typedef {MeterReading & PullCounts & { statements: StatementTime[] | null }} PullsReading */

/** What processes that ran side by side add up to. */
const SUMS = /** @type {const} */ ([
  'workerCpuSeconds',
  'peakMemoryBytes',
  'titles',
  'rejected',
  'inserted',
  'changed',
  'withdrawn',
  'restored',
  'unchanged',
]);

/**
 * The rest is that of the process that took longer.
 *
 * @param {PullsReading} one
 * @param {PullsReading} other
 * @returns {PullsReading}
 */
function addReadings(one, other) {
  const total = { ...(one.elapsedMs >= other.elapsedMs ? one : other) };
  for (const field of SUMS) total[field] = one[field] + other[field];
  total.longestStallMs = Math.max(one.longestStallMs, other.longestStallMs);
  total.outcomes = [...new Set([...one.outcomes, ...other.outcomes])];
  return total;
}
