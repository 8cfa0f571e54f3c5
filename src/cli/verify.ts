import type { Command } from 'commander';
import type { Database } from '../base/database/database.ts';
import { InputError } from '../base/runtime/errors.ts';
import type { CivilDate } from '../base/values/business-day.ts';
import type { Problem } from '../features/verify/findings.sql.ts';
import { readDates, type VerifiedDate, verifyDate } from '../features/verify/verify.sql.ts';
import { dateArgument } from './arguments.ts';
import { type CommandResult, EXIT, type Exit } from './command-run.ts';
import { createProgressLine } from './output/progress-line.ts';
import { formatCount, renderTable, right } from './output/table.ts';
import { stagingAction } from './staging-run.ts';

const PROBLEMS: Readonly<Record<Problem, string>> = {
  content: 'the columns of a title do not have its hashes',
  titles: 'the titles are not those that the newest merge has left',
  totals: 'the totals of the payment schedule are not those of the titles',
  hold: 'the payment of a title is not held',
  line: 'the columns of a booking line do not have its hashes',
  lines: 'the booking lines are not the content of the seal that released them',
  batch: 'a batch is not the sum of its lines, or not of a seal',
  seal: 'a sign-off or reopening has no entry in the audit log',
  reject: 'an acceptance of a rejected title has no entry in the audit log',
  account: 'a decision about an account has no entry in the audit log',
  finding: 'a resolution of a finding has no entry in the audit log',
  pull: 'a decision about a held response has no entry in the audit log',
  session: 'the session of a user has no entry in the audit log',
  user: 'the role of a user is not that of the audit log',
  consumer: 'the access of a consumer is not that of the audit log',
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
    .description('compute again what follows from something else')
    .option('--from <date>', 'the first accepted date, YYYY-MM-DD', dateArgument)
    .option('--to <date>', 'the last accepted date, YYYY-MM-DD', dateArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Compares the titles of each date with what the newest merge has left, and with the titles the day, the payment
schedule and the payment holds; the booking lines with the seals that released them; the decisions with the
audit log. The service does the same for every date once a day. A difference raises the alert titles_altered.
Where a pull can correct it, the service makes one. The alert lasts for a day at least.

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
  const dates = (await readDates(database)).filter(
    (date) => (from === null || date >= from) && (to === null || date <= to),
  );
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
    alterations.map(({ problem, rowKey }) => ({
      date,
      problem,
      row: rowKey,
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
    readonly problem: Problem;
    readonly row: string | null;
    readonly repairPullId: number | null;
  }[],
): string {
  return renderTable(
    ['date', 'difference', 'row', right('repaired by pull')],
    differences.map(({ date, problem, row, repairPullId }) => [
      date,
      PROBLEMS[problem],
      row ?? '-',
      repairPullId === null ? '-' : String(repairPullId),
    ]),
  );
}
