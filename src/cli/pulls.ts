import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from '@commander-js/extra-typings';
import { withBackfillEngine } from '../app/engine.ts';
import { FEATURES } from '../app/features.ts';
import { openPlatform, openPulls, openToken } from '../app/parts.ts';
import { ROLES, startService } from '../app/service.ts';
import { type Database, requireSameClock } from '../base/database/database.ts';
import {
  ConfigError,
  InputError,
  ShutdownError,
  TokenUnusableError,
} from '../base/runtime/errors.ts';
import { cancelPull, createPull, readCheckpoint } from '../core/ledger/pull-requests.sql.ts';
import type { PullReport } from '../core/merge/merge.sql.ts';
import type { AuthGate } from '../core/work/auth-gate.ts';
import { type AttemptOutcome, type PullParts, runPull } from '../core/work/run-pull.ts';
import {
  type BackfillProgress,
  createBackfill,
  MAX_BACKFILL_CONCURRENCY,
  readBackfillProgress,
} from '../features/backfills/backfill-ledger.sql.ts';
import { checkDays } from '../features/checks/check-day.sql.ts';
import { readLedgerDay } from '../features/review/ledger-days.sql.ts';
import {
  type CommandRun,
  command,
  EXIT,
  formatCount,
  integerFrom,
  renderTable,
  someOf,
  toDate,
  withStaging,
} from './command.ts';

const start = command({
  name: 'start',
  does: 'run the service until SIGTERM: schedule, pull, push, serve',
  words: (line) =>
    line.addOption(
      new Option('--roles <list>', 'the roles of this process, separated by commas')
        .argParser(someOf(ROLES))
        .default([...ROLES], ROLES.join(',')),
    ),
  help: `Roles: scheduler decides each minute what is due; worker pulls titles and pushes providers; console
serves the pages, /healthz, /readyz and /metrics on CONSOLE_HOST:CONSOLE_PORT. One process has all three
by default. Several processes share one DATABASE_URL (and REDIS_URL); any number of processes of each role
may run.

On SIGTERM, running merges and pushes get 30 s to finish. Other work returns to the queue. The database is
stopped last.`,
  needs: { platform: true, service: true },
  async run({ config, logger, signal }, { roles }) {
    const service = await startService({ config, logger, roles: new Set(roles) });
    if (!signal.aborted) await once(signal, 'abort');
    await service.stop();
    return { document: {}, text: '' };
  },
});

type EndOutcome = Exclude<AttemptOutcome, { kind: 'retry' }>;
type RetryOutcome = Extract<AttemptOutcome, { kind: 'retry' }>;

/**
 * Makes attempts, with waits between them, until the pull has ended, for a command that a person waits for.
 * When the person stops the command, or the platform refuses the token, the pull is cancelled, because no
 * other process continues it.
 *
 * @param onRetry called before each wait
 * @throws ShutdownError when `signal` aborted; TokenUnusableError when there is no usable token
 */
export async function pullToEnd(
  parts: PullParts,
  pullId: bigint,
  signal: AbortSignal,
  onRetry: (outcome: RetryOutcome) => void,
): Promise<EndOutcome> {
  const cancel = () => cancelPull(parts.database, pullId);
  try {
    for (;;) {
      const outcome = await runPull(parts, pullId, signal);
      if (outcome.kind === 'unauthorized') {
        await cancel();
        if (outcome.error instanceof TokenUnusableError) throw outcome.error;
      }
      if (outcome.kind !== 'retry') return outcome;
      onRetry(outcome);
      await sleep(outcome.delayMs, undefined, { signal }).catch((cause: unknown) => {
        throw new ShutdownError('stopped while waiting for the next attempt', { cause });
      });
    }
  } catch (error) {
    if (error instanceof ShutdownError) await cancel();
    throw error;
  }
}

const pull = command({
  name: 'pull',
  does: 'pull one date now and print the changes',
  words: (line) =>
    line.argument('<date>', 'the accepted date, YYYY-MM-DD, not in the future', toDate),
  help: `Asks the platform for the titles accepted on <date> and merges them into the staging tables. Makes as
many attempts as PULL_ATTEMPTS allows, waiting between them. Pulling a date again is always safe:
titles that did not change are not written.

Exit status: 0 merged or unchanged, 1 failed, 2 wrong usage, 3 merged but a person must look (rejected
titles, a date that is held, a signed day that was restated, changed bank accounts, or findings).

Example: conciliation pull 2026-03-02`,
  needs: { platform: true },
  async run(run, _, [date]) {
    const { config, logger, progress, signal, today } = run;
    if (date > today) {
      throw new InputError(
        `<date>: ${date} is in the future; it is ${today} in ${config.timezone}`,
      );
    }
    return withStaging(run, async (staging) => {
      const { database } = staging;
      const token = openToken(config);
      // What would stop the pull, before the ledger is written.
      await token.current();
      await requireSameClock(database);
      const platform = openPlatform(config, token);
      const parts = await openPulls(config, logger, staging, { platform, features: FEATURES });
      const pullId = await createPull(database, {
        ...{ origin: 'manual', date, requestedBy: 'command line' },
      });
      const observed = {
        ...parts,
        onProgress: ({ titles, bytes }: { titles: number; bytes: number }) =>
          progress.update(
            `${date}: ${formatCount(titles)} titles, ${Math.round(bytes / 1e6)} MB read`,
          ),
      };
      const outcome = await pullToEnd(observed, pullId, signal, (retry) =>
        progress.say(
          `${date}: ${retry.error.message}; next attempt in ${Math.ceil(retry.delayMs / 1000)} s`,
        ),
      ).finally(() => platform.close());
      await checkDays(database, config.checkSeverities, signal);
      const { prisma } = database;
      const [day, openRejects, accountChanges] = await Promise.all([
        readLedgerDay(database, date, today),
        prisma.rejectedTitle.count({ where: { date, status: 'open' } }),
        prisma.accountChange.count({ where: { pullId, state: 'open' } }),
      ]);
      if (outcome.kind !== 'done') {
        const { code, message } = outcome.error;
        return {
          document: { pullId: Number(pullId), state: 'failed', error: { code, message } },
          text: `Pull ${pullId} failed and changed nothing: ${message}`,
          exit: EXIT.failed,
        };
      }
      const { isRestated = false, openFindings = 0 } = day ?? {};
      const { report } = outcome;
      const { pullId: _, state, titles, ...counts } = report;
      const open = [
        ...(state === 'held' ? ['the held response'] : []),
        ...(openRejects > 0 ? [`${formatCount(openRejects)} rejected title(s)`] : []),
        ...(openFindings > 0 ? [`${formatCount(openFindings)} finding(s) of the checks`] : []),
        ...(accountChanges > 0 ? [`${formatCount(accountChanges)} changed bank account(s)`] : []),
        ...(isRestated ? ['the difference from the sign-off'] : []),
      ];
      return {
        document: {
          ...{ pullId: Number(pullId), state, titles, rejected: report.rejected },
          // `titles` counts the titles that keep the contract.
          dates: [{ ...counts, outcome: state, titles: titles - report.rejected }],
          ...{ isRestated, accountChanges, openRejects, openFindings },
        },
        text: [
          pullTable(report),
          ...(open.length === 0
            ? []
            : ['', `A person has to review in the console: ${open.join(', ')}.`]),
        ].join('\n'),
        exit: open.length === 0 ? EXIT.done : EXIT.needsPerson,
      };
    });
  },
});

function pullTable(report: PullReport): string {
  const counts = ['inserted', 'changed', 'withdrawn', 'restored'] as const;
  const isHeld = report.state === 'held';
  const row = [
    report.date,
    formatCount(report.titles - report.rejected),
    // The counts of a held response are those of a release.
    ...counts.map((name) => (isHeld ? '–' : formatCount(report[name]))),
    formatCount(report.rejected),
    isHeld ? 'held, not merged' : report.state,
  ];
  const heads = ['date', 'titles', ...counts, 'rejected', 'outcome'];
  return renderTable(heads, [row]);
}

const backfill = command({
  name: 'backfill run',
  does: 'pull a range of dates, day by day',
  words: (line) =>
    line
      .requiredOption('--from <date>', 'first date', toDate)
      .requiredOption('--to <date>', 'last date, not in the future', toDate)
      .option('--concurrency <n>', 'dates at once', integerFrom(1, MAX_BACKFILL_CONCURRENCY), 2),
  help: `Every date of the range is pulled once, in any state, by this command and by the services that run. Titles that
did not change are not written. The backfill is a row of the database: Ctrl-C ends the command and not the
backfill, and a running service pulls the other dates. The console's page "Backfills" lists and cancels backfills. One
request at a time is reserved for the pulls that are due today.

Exit status: 0 done, 1 some dates failed, 2 wrong usage, 3 done but some dates are held.

Example: conciliation backfill run --from 2026-01-01 --to 2026-03-31 --concurrency 3`,
  needs: { platform: true },
  run: (context, { from, to, concurrency }) =>
    withStaging(context, (staging) =>
      withBackfillEngine(context, staging, async ({ planner, gate }) => {
        const { by, today } = context;
        const { database } = staging;
        const range = { from, to };
        const id = await createBackfill(database, { range, concurrency, by }, today);
        await planner.runOnce();
        const progress = await follow(context, database, id, gate);
        const { state, total, done, failed, held, titles } = progress;
        const begins = (await readCheckpoint(database))?.startDate;
        const advice =
          state === 'running'
            ? '\nThis command has stopped. The other dates are pulled as soon as a service runs.'
            : failed + held > 0
              ? '\nSee "conciliation status" for the next steps.'
              : '';
        const isFailed = state === 'running' || failed > 0;
        return {
          document: { backfillId: progress.id, state, total, done, failed, held, titles },
          text: `Backfill ${id}: ${countsOf(progress)}. The ledger begins on ${begins}.${advice}`,
          exit: isFailed ? EXIT.failed : held > 0 ? EXIT.needsPerson : EXIT.done,
        };
      }),
    ),
});

const POLL_INTERVAL_MS = 300;

/**
 * Waits until the backfill is done or cancelled, or `signal` aborts.
 * @throws ConfigError when there is no token that the platform accepts
 */
async function follow(
  { progress, signal }: CommandRun,
  database: Database,
  id: bigint,
  gate: AuthGate,
): Promise<BackfillProgress> {
  for (;;) {
    const now = await readBackfillProgress(database, id);
    if (now === null) throw new InputError(`there is no backfill ${id}`);
    if (now.state !== 'running' || signal.aborted) return now;
    if ((await gate.findFault()) !== null) {
      throw new ConfigError([
        `the platform refuses the token; backfill ${id} goes on in a service that has another`,
      ]);
    }
    progress.update(`backfill ${id}: ${countsOf(now)}`);
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

function countsOf({ total, done, failed, held, titles }: BackfillProgress): string {
  return [
    `${formatCount(done)} of ${formatCount(total)} date(s) pulled, ${formatCount(titles)} titles`,
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(held > 0 ? [`${formatCount(held)} held`] : []),
  ].join(', ');
}

export const COMMANDS = [start, pull, backfill];
