import type { Command } from 'commander';
import { FEATURES } from '../app/features.ts';
import { openPlatform, openPulls, openStaging, requireAbleToPull } from '../app/parts.ts';
import type { CivilDate } from '../base/values/business-day.ts';
import { createPull } from '../core/ledger/pull-ledger.sql.ts';
import { pullToEnd } from '../core/work/pull-to-end.ts';
import { checkDays } from '../features/checks/check-day.sql.ts';
import { dateArgument, requireNotFuture } from './arguments.ts';
import { type CommandResult, type CommandRun, type Exit, runCommand } from './command-run.ts';
import { createProgressLine } from './output/progress-line.ts';
import { pullResult, readConcerns } from './output/pull-text.ts';
import { formatCount } from './output/table.ts';

export function addPullCommand(program: Command, exit: Exit): void {
  program
    .command('pull')
    .description('pull one date now and print the changes')
    .argument('<date>', 'the accepted date, YYYY-MM-DD, not in the future', dateArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Asks the platform for the titles accepted on <date> and merges them into the staging tables. Makes as
many attempts as PULL_ATTEMPTS allows, waiting between them. Pulling a date again is always safe:
titles that did not change are not written.

Exit status: 0 merged or unchanged, 1 failed, 2 wrong usage, 3 merged but a person must look (rejected
titles, a date that is held, a signed day that was restated, changed bank accounts, or findings).

Example: conciliation pull 2026-03-02`,
    )
    .action(async (date: CivilDate, options: { json?: boolean }) => {
      exit(
        await runCommand({ json: options.json, platform: true }, (run) => {
          requireNotFuture('<date>', date, run.config.timezone);
          return pullDate(run, date);
        }),
      );
    });
}

async function pullDate(run: CommandRun, date: CivilDate): Promise<CommandResult> {
  const staging = await openStaging(run.config, run.logger);
  const platform = openPlatform(run.config);
  const line = createProgressLine();
  try {
    await requireAbleToPull(run.config, staging.database);
    const parts = await openPulls(run.config, run.logger, staging, {
      platform,
      features: FEATURES,
    });
    const pullId = await createPull(staging.database, {
      origin: 'manual',
      date,
      requestedBy: 'command line',
    });
    const observed = {
      ...parts,
      onProgress: ({ titles, bytes }: { titles: number; bytes: number }) =>
        line.update(`${date}: ${formatCount(titles)} titles, ${Math.round(bytes / 1e6)} MB read`),
    };
    const outcome = await pullToEnd(observed, pullId, run.signal, (retry) => {
      line.end();
      process.stderr.write(
        `${date}: ${retry.error.message}; next attempt in ${Math.ceil(retry.delayMs / 1000)} s\n`,
      );
    });
    await checkDays(staging.database, { severities: run.config.checkSeverities }, run.signal);
    return pullResult(pullId, outcome, await readConcerns(staging.database, date, pullId));
  } finally {
    line.end();
    await platform.close();
    await staging.close();
  }
}
