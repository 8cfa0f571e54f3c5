import type { Command } from 'commander';
import { runBackfill } from '../app/foreground-backfill.ts';
import { openStaging, requireAbleToPull } from '../app/parts.ts';
import {
  type BackfillProgress,
  cancelBackfill,
  createBackfill,
  readBackfillProgress,
  resumeBackfill,
} from '../backfills/backfill-ledger.sql.ts';
import { type CivilDate, dateIn, datesBetween } from '../domain/business-day.ts';
import {
  type BackfillRange,
  backfillRangeFault,
  MAX_BACKFILL_CONCURRENCY,
} from '../domain/plan/backfill-plan.ts';
import { type DayRow, readDays } from '../ledger/reads.sql.ts';
import { InputError } from '../runtime/errors.ts';
import { dateArgument, idArgument, integerArgument } from './arguments.ts';
import { type CommandResult, type CommandRun, EXIT, type Exit, runCommand } from './command-run.ts';
import { operatorName } from './operator-name.ts';
import { progressBar } from './output/backfill-text.ts';
import { createProgressLine } from './output/progress-line.ts';
import { formatCount } from './output/table.ts';
import { stagingAction, withStaging } from './staging-run.ts';

interface BackfillOptions {
  readonly from?: CivilDate;
  readonly to?: CivilDate;
  readonly concurrency: number;
  readonly dryRun?: boolean;
  readonly detach?: boolean;
  readonly json?: boolean;
}

export function addBackfillCommand(program: Command, exit: Exit): void {
  const backfill = program
    .command('backfill')
    .description('pull a range of dates, day by day')
    .option('--from <date>', 'first date', dateArgument)
    .option('--to <date>', 'last date, not in the future', dateArgument)
    .option('--concurrency <n>', 'dates at once', integerArgument(1, MAX_BACKFILL_CONCURRENCY), 2)
    .option('--dry-run', 'list the dates that would be pulled; no request is sent')
    .option('--detach', 'let the running service pull the dates')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Every date of the range is pulled once, in any state. Titles that did not change are not written. The backfill
is a row of the database: Ctrl-C, a crash or a restart does not lose the backfill, and a running service continues
the backfill. One request at a time is reserved for the pulls that are due today.

  conciliation backfill resume <id>    continue a backfill that was stopped or cancelled
  conciliation backfill cancel <id>    stop a backfill; the dates that were pulled stay

Exit status: 0 done, 1 some dates failed, 2 wrong usage, 3 done but some dates are held.

Example: conciliation backfill --from 2026-01-01 --to 2026-03-31 --concurrency 3`,
    )
    .action(async (options: BackfillOptions) => {
      const needsPlatform = options.dryRun !== true && options.detach !== true;
      exit(
        await runCommand({ json: options.json, platform: needsPlatform }, (run) =>
          options.dryRun === true ? dryRun(run, rangeOf(options)) : create(run, options),
        ),
      );
    });
  backfill
    .command('resume')
    .description('continue a backfill that was stopped or cancelled')
    .argument('<id>', 'the number of the backfill', idArgument('backfill'))
    .option('--detach', 'let the running service pull the dates')
    .option('--json', 'print one JSON document')
    .action(async (id: bigint, options: { detach?: boolean; json?: boolean }) => {
      exit(
        await runCommand({ json: options.json, platform: options.detach !== true }, (run) =>
          resume(run, id, options.detach === true),
        ),
      );
    });
  backfill
    .command('cancel')
    .description('stop a backfill; the dates that were pulled stay')
    .argument('<id>', 'the number of the backfill', idArgument('backfill'))
    .option('--json', 'print one JSON document')
    .action(
      stagingAction(exit, async (database, _, id: bigint) => {
        await cancelBackfill(database, id, operatorName());
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
  const today = dateIn(run.config.timeZone, new Date());
  const fault = backfillRangeFault(range, today);
  if (fault !== null) throw new InputError(fault.message, { context: fault.context });
  return withStaging(run, async (database) => {
    const known = new Map<CivilDate, DayRow>(
      (await readDays(database, range, today)).map((day) => [day.date, day]),
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

async function create(run: CommandRun, options: BackfillOptions): Promise<CommandResult> {
  const staging = await openStaging(run.config, run.logger);
  try {
    if (options.detach !== true) await requireAbleToPull(run.config, staging.database);
    const id = await createBackfill(
      staging.database,
      { range: rangeOf(options), concurrency: options.concurrency, by: operatorName() },
      dateIn(run.config.timeZone, new Date()),
    );
    return await follow(run, staging, id, options.detach === true);
  } finally {
    await staging.close();
  }
}

async function resume(run: CommandRun, id: bigint, detach: boolean): Promise<CommandResult> {
  const staging = await openStaging(run.config, run.logger);
  try {
    if (!detach) await requireAbleToPull(run.config, staging.database);
    const progress = await readBackfillProgress(staging.database, id);
    // An interrupted backfill still has the state `running` in the ledger.
    if (progress?.state !== 'running') await resumeBackfill(staging.database, id, operatorName());
    return await follow(run, staging, id, detach);
  } finally {
    await staging.close();
  }
}

async function follow(
  run: CommandRun,
  staging: Awaited<ReturnType<typeof openStaging>>,
  id: bigint,
  detach: boolean,
): Promise<CommandResult> {
  if (detach) {
    return {
      document: { backfillId: Number(id) },
      text: `Backfill ${id} is recorded; a running service begins with it within a minute.`,
    };
  }
  const line = createProgressLine();
  const startedMs = performance.now();
  let first: BackfillProgress | undefined;
  try {
    const progress = await runBackfill(run, staging, id, (now) => {
      first ??= now;
      line.update(progressBar(first, now, performance.now() - startedMs));
    });
    return resultOf(progress);
  } finally {
    line.end();
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
      ? `\nThis command has stopped. A running service pulls the other dates. Without one, go on with: conciliation backfill resume ${id}`
      : failed + held > 0
        ? '\nSee "conciliation status" for the next steps.'
        : '';
  return {
    document: { backfillId: id, state, total, done, failed, held, titles },
    text: `Backfill ${id}: ${counts.join(', ')}.${advice}`,
    exit: state === 'running' || failed > 0 ? EXIT.failed : held > 0 ? EXIT.needsPerson : EXIT.done,
  };
}
