import { type Command, Option } from 'commander';
import { type CivilDate, daysBetween } from '../../domain/business-day.ts';
import { AMOUNT_COLUMNS } from '../../domain/title.ts';
import type { CsvLocale } from '../../export/csv.ts';
import { InputError } from '../../runtime/errors.ts';
import {
  type DueRange,
  type Payee,
  readSchedule,
  readScheduleSnapshot,
  type Schedule,
} from '../../schedule/read-schedule.sql.ts';
import {
  encodeSchedule,
  MAX_DUE_DAYS,
  recordScheduleExport,
  SCHEDULE_FORMATS,
  type ScheduleFormat,
} from '../../schedule/schedule-file.ts';
import { dateArgument, integerArgument } from '../arguments.ts';
import { type CommandResult, type CommandRun, commandAction, type Exit } from '../command-run.ts';
import { operatorName } from '../operator-name.ts';
import { checkOutFile, writeOutFile } from '../output/out-file.ts';
import { formatAmount, formatCount, renderTable } from '../output/table.ts';
import { withStaging } from '../staging-run.ts';

const LOCALES = ['pt-BR', 'en'] as const satisfies readonly CsvLocale[];
const GROUPS = 100;
const MAX_GROUPS = 10_000;

interface ScheduleOptions {
  readonly dueFrom: CivilDate;
  readonly dueTo: CivilDate;
  readonly limit?: number;
  readonly format?: ScheduleFormat;
  readonly out?: string;
  readonly locale?: CsvLocale;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** Adds the command that shows the payees of each due date. */
export function addPaymentScheduleCommand(program: Command, exit: Exit): void {
  program
    .command('payment-schedule')
    .description('show the parties to be paid on each due date, and their accounts')
    .requiredOption('--due-from <date>', 'first due date, YYYY-MM-DD', dateArgument)
    .requiredOption('--due-to <date>', 'last due date, YYYY-MM-DD', dateArgument)
    .option(
      '--limit <number>',
      `most groups of party and account that are listed (default: ${GROUPS})`,
      integerArgument(1, MAX_GROUPS),
    )
    .addOption(
      new Option('--format <format>', 'write a file: requires --out').choices(SCHEDULE_FORMATS),
    )
    .option('--out <file>', 'the file: requires --format')
    .addOption(
      new Option('--locale <locale>', 'language of the file (default: "pt-BR")').choices(LOCALES),
    )
    .option('--force', 'replace the file if it exists')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Counts the current titles of all accepted dates by the party to be paid and its account: the financial
agent, or the provider where the buyer itself is the financial agent. This is an interpretation of the platform's
interface. The range is at most ${MAX_DUE_DAYS} days. Titles without a due date are counted separately.

  csv    A row for each due date, party and account, with all amounts.
  xlsx   The same as a workbook, with a sheet of totals.
  ics    A calendar with an event for each due date, without parties and accounts.

The text, the JSON document, csv and xlsx hold names, tax identifiers and bank accounts. The audit log has an
entry for each file.

Exit status: 0 done, 1 failed or interrupted, 2 wrong usage or the file cannot be written.

Example: conciliation payment-schedule --due-from 2026-03-01 --due-to 2026-03-31`,
    )
    .action(commandAction(exit, { platform: false }, showSchedule));
}

async function showSchedule(run: CommandRun, options: ScheduleOptions): Promise<CommandResult> {
  const { dueFrom: from, dueTo: to, format, out } = options;
  const range = { from, to };
  if (from > to) throw new InputError(`--due-from ${from} is after --due-to ${to}`);
  if (daysBetween(from, to) >= MAX_DUE_DAYS) {
    throw new InputError(`--due-from, --due-to: at most ${MAX_DUE_DAYS} days`);
  }
  if ((format === undefined) !== (out === undefined)) {
    throw new InputError('--format and --out: one requires the other');
  }
  if (options.locale !== undefined && format === undefined) {
    throw new InputError(`--locale ${options.locale}: requires --format`);
  }
  const file = out === undefined ? null : { path: out, force: options.force === true };
  if (file !== null) await checkOutFile(file);
  return withStaging(run, async (database) => {
    if (file !== null && format !== undefined) {
      return await readScheduleSnapshot(database, range, run.signal, async (snapshot) => {
        // Before the first byte, so that no data leaves the database without an entry in the audit log.
        await recordScheduleExport(database, operatorName(), { range, format, snapshot });
        const { bytes, limits } = encodeSchedule(snapshot, {
          format,
          locale: options.locale ?? 'pt-BR',
          at: new Date(),
        });
        const size = await writeOutFile(file, bytes, run.signal);
        const { overall, lineCount } = snapshot;
        return {
          document: {
            file: file.path,
            format,
            ...range,
            ...overall,
            lines: lineCount,
            bytes: size,
            ...limits,
          },
          text: `${formatCount(overall.titles)} title(s) due from ${from} to ${to} are in ${file.path} (${format}, ${formatCount(size)} bytes).`,
        };
      });
    }
    const limit = options.limit ?? GROUPS;
    const schedule = await readSchedule(database, { range, hasAllAmounts: true, offset: 0, limit });
    return {
      document: { dueFrom: from, dueTo: to, ...schedule },
      text: scheduleText(range, schedule),
    };
  });
}

function scheduleText({ from, to }: DueRange, schedule: Schedule): string {
  const { overall, changed, dates, groups, groupCount, undated } = schedule;
  const figures = (titles: number, value: string | null) => [
    formatCount(titles),
    formatAmount(value ?? '0'),
  ];
  const columns = (title: string) => [
    { title },
    { title: 'titles', align: 'right' as const },
    { title: 'original value', align: 'right' as const },
  ];
  return [
    `Due from ${from} to ${to}`,
    '',
    renderTable(columns(''), [
      ['to be paid', ...figures(overall.titles, overall.sums.original_value)],
      ['on changed accounts', ...figures(changed.titles, changed.originalValue)],
      ['of days that wait for a person', ...figures(overall.waitingTitles, overall.waitingValue)],
      ['without due date, not included', ...figures(undated.titles, undated.originalValue)],
    ]),
    ...(dates.length === 0
      ? []
      : [
          '',
          renderTable(
            columns('due date'),
            dates.map((day) => [day.date, ...figures(day.titles, day.sums.original_value)]),
          ),
          '',
          renderTable(
            [...columns('to be paid'), 'account', 'marks'],
            groups.map(({ payee, titles, sums, waitingTitles }) => [
              payeeText(payee),
              ...figures(titles, sums.original_value),
              accountText(payee),
              [
                ...(payee.isChanged ? ['changed account'] : []),
                ...(waitingTitles > 0 ? [`${formatCount(waitingTitles)} waiting`] : []),
              ].join(', '),
            ]),
          ),
          '',
          `${formatCount(groups.length)} of ${formatCount(groupCount)} groups are listed.`,
        ]),
    '',
    `Amounts: ${AMOUNT_COLUMNS.map((column) => `${column} ${formatAmount(overall.sums[column] ?? '0')}`).join(', ')}`,
  ].join('\n');
}

function payeeText({ kind, name, externalId, identification }: Payee): string {
  if (kind === null) return 'neither party nor account stated';
  const parts = [externalId, name, identification].filter((part) => part !== null && part !== '');
  return parts.length === 0 ? 'no party stated' : parts.join(' · ');
}

function accountText({ account }: Payee): string {
  const { bank, agency, agencyDigit, account: number, accountDigit } = account;
  const joined = (text: string | null, digit: string | null) =>
    text === null ? '–' : digit === null ? text : `${text}-${digit}`;
  return Object.values(account).every((value) => value === null)
    ? 'no account stated'
    : `${bank ?? '–'} ${joined(agency, agencyDigit)} ${joined(number, accountDigit)}`;
}
