import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { withBackfillEngine } from '../app/engine.ts';
import { requireAbleToPlan, requireAbleToPull } from '../app/parts.ts';
import type { Database } from '../base/database/database.ts';
import { ConfigError, InputError } from '../base/runtime/errors.ts';
import { type CivilDate, datesBetween } from '../base/values/business-day.ts';
import type { AuthGate } from '../core/work/auth-gate.ts';
import {
  type BackfillProgress,
  cancelBackfill,
  createBackfill,
  readBackfillProgress,
} from '../features/backfills/backfill-ledger.sql.ts';
import {
  type BackfillRange,
  backfillRangeFault,
  MAX_BACKFILL_CONCURRENCY,
} from '../features/backfills/backfill-plan.ts';
import { type LedgerDay, readLedgerDays } from '../features/review/ledger-days.sql.ts';
import { dateArgument, idArgument, integerArgument } from './arguments.ts';
import {
  type CommandResult,
  type CommandRun,
  commandAction,
  EXIT,
  type Exit,
  stagingAction,
  withStaging,
} from './command-run.ts';
import { progressBar } from './output/backfill-text.ts';
import { formatCount } from './output/table.ts';

const POLL_INTERVAL_MS = 300;

interface BackfillOptions {
  readonly from?: CivilDate;
  readonly to?: CivilDate;
  readonly concurrency: number;
  readonly dryRun?: boolean;
  readonly detach?: boolean;
}

export function addBackfillCommand(program: Command, exit: Exit): void {
  const backfill = program
    .command('backfill')
    .description('pull a range of dates, day by day')
    .option('--from <date>', 'first date', dateArgument)
    .option('--to <date>', 'last date, not in the future', dateArgument)
    .option('--concurrency <n>', 'dates at once', integerArgument(1, MAX_BACKFILL_CONCURRENCY), 2)
    .option('--dry-run', 'list the dates that would be pulled; no request is sent')
    .option('--detach', 'leave the dates to a running service')
    .addHelpText(
      'after',
      `
Every date of the range is pulled once, in any state, by this command and by the services that run. Titles that
did not change are not written. The backfill is a row of the database: Ctrl-C ends the command and not the
backfill, and a running service pulls the other dates. One request at a time is reserved for the pulls that are due
today. With --detach, a running service pulls all dates.

  conciliation backfill cancel <id>    stop a backfill; the dates that were pulled stay

Exit status: 0 done, 1 some dates failed, 2 wrong usage, 3 done but some dates are held.

Example: conciliation backfill --from 2026-01-01 --to 2026-03-31 --concurrency 3`,
    )
    .action(
      commandAction(
        exit,
        (options: BackfillOptions) => ({ platform: pullsHere(options) }),
        (run, options) =>
          options.dryRun === true ? dryRun(run, rangeOf(options)) : create(run, options),
      ),
    );
  backfill
    .command('cancel')
    .description('stop a backfill; the dates that were pulled stay')
    .argument('<id>', 'the number of the backfill', idArgument('backfill'))
    .action(
      stagingAction(exit, async (database, { by }, id: bigint) => {
        await cancelBackfill(database, id, by);
        return {
          document: { backfillId: Number(id), state: 'cancelled' },
          text: `Backfill ${id} is cancelled; pulled dates stay.`,
        };
      }),
    );
}

/** Commander would also require the options for the subcommands. */
function rangeOf({ from, to }: BackfillOptions): BackfillRange {
  if (from === undefined || to === undefined)
    throw new InputError('backfill needs --from and --to');
  return { from, to };
}

async function dryRun(run: CommandRun, range: BackfillRange): Promise<CommandResult> {
  const { today } = run;
  const fault = backfillRangeFault(range, today);
  if (fault !== null) throw new InputError(fault.message, { context: fault.context });
  return withStaging(run, async ({ database }) => {
    const known = new Map<CivilDate, LedgerDay>(
      (await readLedgerDays(database, range, today)).map((day) => [day.date, day]),
    );
    const dates = datesBetween(range.from, range.to);
    const states: Record<string, number> = {};
    for (const date of dates) {
      const state = known.get(date)?.state ?? 'never pulled';
      states[state] = (states[state] ?? 0) + 1;
    }
    const lines = Object.entries(states).map(([state, days]) => `  ${formatCount(days)} ${state}`);
    return {
      document: { from: range.from, to: range.to, dates: dates.length, states },
      text: `${formatCount(dates.length)} date(s) would be pulled, one request each; by their state now:\n${lines.join('\n')}`,
    };
  });
}

const pullsHere = ({ dryRun, detach }: BackfillOptions) => dryRun !== true && detach !== true;

function create(run: CommandRun, options: BackfillOptions): Promise<CommandResult> {
  const { by, config, logger, today } = run;
  return withStaging(run, async (staging) => {
    const { database } = staging;
    await (pullsHere(options) ? requireAbleToPull : requireAbleToPlan)(config, database);
    const { concurrency } = options;
    const id = await createBackfill(database, { range: rangeOf(options), concurrency, by }, today);
    if (pullsHere(options)) {
      return withBackfillEngine({ config, logger }, staging, async ({ gate }) =>
        resultOf(await follow(run, database, id, gate)),
      );
    }
    return {
      document: { backfillId: Number(id) },
      text: `Backfill ${id} is recorded; a running service begins with it within a minute.`,
    };
  });
}

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
  const startedMs = performance.now();
  let first: BackfillProgress | undefined;
  for (;;) {
    const now = await readBackfillProgress(database, id);
    if (now === null) throw new InputError(`there is no backfill ${id}`);
    if (now.state !== 'running' || signal.aborted) return now;
    if ((await gate.findFault()) !== null) {
      throw new ConfigError([
        `the platform refuses the token; backfill ${id} goes on in a service that has another`,
      ]);
    }
    first ??= now;
    progress.update(progressBar(first, now, performance.now() - startedMs));
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

function resultOf(progress: BackfillProgress): CommandResult {
  const { id, state, total, done, failed, held, titles } = progress;
  const counts = [
    `${formatCount(done)} of ${formatCount(total)} date(s) pulled, ${formatCount(titles)} titles`,
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(held > 0 ? [`${formatCount(held)} held`] : []),
  ];
  const advice =
    state === 'running'
      ? '\nThis command has stopped. A running service pulls the other dates.'
      : failed + held > 0
        ? '\nSee "conciliation status" for the next steps.'
        : '';
  return {
    document: { backfillId: id, state, total, done, failed, held, titles },
    text: `Backfill ${id}: ${counts.join(', ')}.${advice}`,
    exit: state === 'running' || failed > 0 ? EXIT.failed : held > 0 ? EXIT.needsPerson : EXIT.done,
  };
}
