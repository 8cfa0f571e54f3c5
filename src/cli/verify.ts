import type { Command } from 'commander';
import type { Database } from '../base/database/database.ts';
import { InputError } from '../base/runtime/errors.ts';
import type { CivilDate } from '../base/values/business-day.ts';
import type { Problem } from '../features/verify/findings.sql.ts';
import { readDates, verifyDate } from '../features/verify/verify.sql.ts';
import { dateArgument } from './arguments.ts';
import {
  type CommandResult,
  type CommandRun,
  EXIT,
  type Exit,
  stagingAction,
} from './command-run.ts';
import { formatCount, renderTable, right } from './output/table.ts';

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
  finding:
    'a finding is not as the newest check left it, or its resolution has no entry in the audit log',
  pull: 'a held response was not replaced, or a decision about it has no entry in the audit log',
  receipt: 'an answer to a receipt has no entry in the audit log',
  break: 'a resolution of a break has no entry in the audit log',
  session: 'the session of a user has no entry in the audit log',
  key: 'an API key has no entry in the audit log, or was revoked',
  user: 'the role of a user is not that of the audit log',
  consumer: 'the access of a consumer is not that of the audit log',
  start: 'the first date with bookings is not that of the audit log',
  day: 'counts, sums, digest or seal of the day are not those of its titles',
  unchecked: 'a value in the tables makes a part of the check fail',
};

export function addVerifyCommand(program: Command, exit: Exit): void {
  program
    .command('verify')
    .description('compute again what follows from something else')
    .option('--from <date>', 'the first accepted date, YYYY-MM-DD', dateArgument)
    .option('--to <date>', 'the last accepted date, YYYY-MM-DD', dateArgument)
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
    .action(stagingAction(exit, verifyDates));
}

async function verifyDates(
  database: Database,
  { progress, signal }: CommandRun,
  { from, to }: { readonly from?: CivilDate; readonly to?: CivilDate },
): Promise<CommandResult> {
  if (from !== undefined && to !== undefined && to < from) {
    throw new InputError('--to is before --from');
  }
  const dates = (await readDates(database)).filter(
    (date) => (from === undefined || date >= from) && (to === undefined || date <= to),
  );
  const differences = [];
  let titles = 0;
  for (const [index, date] of dates.entries()) {
    progress.update(`${date}: ${index} of ${dates.length} dates, ${formatCount(titles)} titles`);
    const verified = await verifyDate(database, date, signal);
    titles += verified.titles;
    const repairPullId = verified.repairPullId === null ? null : Number(verified.repairPullId);
    for (const { problem, rowKey: row } of verified.alterations) {
      differences.push({ date, problem, row, repairPullId });
    }
  }
  const checked = `${formatCount(titles)} titles of ${formatCount(dates.length)} dates`;
  const document = { dates: dates.length, titles, differences };
  if (differences.length === 0) return { document, text: `${checked}: no difference.` };
  const table = renderTable(
    ['date', 'difference', 'row', right('repaired by pull')],
    differences.map(({ date, problem, row, repairPullId }) => [
      ...[date, PROBLEMS[problem], row ?? '-', String(repairPullId ?? '-')],
    ]),
  );
  return {
    document,
    text: `${table}\n\n${checked}: ${formatCount(differences.length)} differences.`,
    exit: EXIT.needsPerson,
  };
}
