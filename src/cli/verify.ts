import type { Command } from 'commander';
import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import type { Problem } from '../integrity/check-date.sql.ts';
import { readCheckableDates } from '../integrity/findings.sql.ts';
import { type VerifiedDate, verifyDate } from '../integrity/verify-dates.ts';
import { InputError } from '../runtime/errors.ts';
import { dateArgument } from './arguments.ts';
import { type CommandResult, EXIT, type Exit } from './command-run.ts';
import { createProgressLine } from './output/progress-line.ts';
import { formatCount, renderTable, right } from './output/table.ts';
import { stagingAction } from './staging-run.ts';

const PROBLEMS: Readonly<Record<Problem, string>> = {
  content: 'the columns do not have their recorded hash',
  record: 'the row does not have its recorded hash',
  unrecorded: 'no merge inserted the row',
  missing: 'the row is gone',
  history: 'the recorded changes do not lead to the row',
  day: 'counts, sums, digest or seal of the day are not those of its titles',
  unchecked: 'a value in the tables makes a part of the check fail',
};

interface VerifyOptions {
  readonly from?: CivilDate | null;
  readonly to?: CivilDate | null;
}

export function addVerifyCommand(program: Command, exit: Exit): void {
  program
    .command('verify')
    .description('check that nothing but merges has changed the titles')
    .option('--from <date>', 'the first accepted date, YYYY-MM-DD', dateArgument)
    .option('--to <date>', 'the last accepted date, YYYY-MM-DD', dateArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Compares each title with the hash that its newest merge recorded, and each day with its titles. The service
does the same for every date once a day. A difference raises the alert titles_altered and requests a pull
that restores the platform's values; the service makes that pull. The alert lasts for a day at least.

Exit status: 0 no difference, 1 failed, 2 wrong usage, 3 a difference was found.

Example: conciliation verify --from 2026-03-01 --to 2026-03-31`,
    )
    .action(
      stagingAction(exit, (database, { signal }, options: VerifyOptions) =>
        verifyDates(database, options, signal),
      ),
    );
}

async function verifyDates(
  database: Database,
  { from = null, to = null }: VerifyOptions,
  signal: AbortSignal,
): Promise<CommandResult> {
  if (from !== null && to !== null && to < from) throw new InputError('--to is before --from');
  const dates = await readCheckableDates(database, from, to);
  const line = createProgressLine();
  const altered: VerifiedDate[] = [];
  let titles = 0;
  try {
    for (const [index, date] of dates.entries()) {
      line.update(`${date}: ${index} of ${dates.length} dates, ${formatCount(titles)} titles`);
      const verified = await verifyDate(database, date, signal);
      titles += verified.titles;
      if (verified.alterations.length > 0) altered.push(verified);
    }
  } finally {
    line.end();
  }
  const differences = altered.flatMap(({ date, alterations, repairPullId }) =>
    alterations.map(({ titleId, problem }) => ({
      date,
      titleId: titleId === null ? null : Number(titleId),
      problem,
      repairPullId: repairPullId === null ? null : Number(repairPullId),
    })),
  );
  const checked = `${formatCount(titles)} titles of ${formatCount(dates.length)} dates`;
  return {
    document: { dates: dates.length, titles, differences },
    text:
      differences.length === 0
        ? `${checked}: no difference.`
        : `${differenceTable(differences)}\n\n${checked}: ${formatCount(differences.length)} differences.`,
    exit: differences.length === 0 ? EXIT.done : EXIT.needsPerson,
  };
}

function differenceTable(
  differences: readonly {
    readonly date: CivilDate;
    readonly titleId: number | null;
    readonly problem: Problem;
    readonly repairPullId: number | null;
  }[],
): string {
  return renderTable(
    ['date', right('title'), 'difference', right('repaired by pull')],
    differences.map(({ date, titleId, problem, repairPullId }) => [
      date,
      titleId === null ? '-' : String(titleId),
      PROBLEMS[problem],
      repairPullId === null ? '-' : String(repairPullId),
    ]),
  );
}
