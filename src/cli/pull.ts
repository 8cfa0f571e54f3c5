import type { Command } from 'commander';
import { FEATURES } from '../app/features.ts';
import { openPulls, requireAbleToPull } from '../app/parts.ts';
import { InputError } from '../base/runtime/errors.ts';
import type { CivilDate } from '../base/values/business-day.ts';
import { createPull } from '../core/ledger/pull-ledger.sql.ts';
import { pullToEnd } from '../core/work/pull-to-end.ts';
import { checkDays } from '../features/checks/check-day.sql.ts';
import { dateArgument } from './arguments.ts';
import {
  type CommandResult,
  type CommandRun,
  commandAction,
  type Exit,
  withPlatform,
} from './command-run.ts';
import { pullResult, readConcerns } from './output/pull-text.ts';
import { formatCount } from './output/table.ts';

export function addPullCommand(program: Command, exit: Exit): void {
  program
    .command('pull')
    .description('pull one date now and print the changes')
    .argument('<date>', 'the accepted date, YYYY-MM-DD, not in the future', dateArgument)
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
    .action(commandAction(exit, { platform: true }, pullDate));
}

function pullDate(run: CommandRun, date: CivilDate): Promise<CommandResult> {
  const { config, logger, progress, signal, today } = run;
  if (date > today) {
    throw new InputError(`<date>: ${date} is in the future; it is ${today} in ${config.timezone}`);
  }
  return withPlatform(run, async (staging, platform) => {
    const { database } = staging;
    await requireAbleToPull(config, database);
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
    const outcome = await pullToEnd(observed, pullId, signal, (retry) => {
      progress.end();
      process.stderr.write(
        `${date}: ${retry.error.message}; next attempt in ${Math.ceil(retry.delayMs / 1000)} s\n`,
      );
    });
    await checkDays(database, { severities: config.checkSeverities }, signal);
    return pullResult(pullId, outcome, await readConcerns(database, date, pullId));
  });
}
