import { type Command, Option } from 'commander';
import { checkRules } from '../../app/check-rules.ts';
import { checkDays } from '../../checks/check-day.sql.ts';
import {
  countFindings,
  FINDING_STATES,
  type FindingRow,
  readFindings,
  resolveFindings,
} from '../../checks/findings.sql.ts';
import type { Database } from '../../database/database.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import { CHECK_CODES, CHECK_TEXTS, type CheckCode } from '../../domain/checks/checks.ts';
import { dateArgument, idArgument, reasonArgument } from '../arguments.ts';
import { type CommandResult, type CommandRun, EXIT, type Exit } from '../command-run.ts';
import { operatorName } from '../operator-name.ts';
import { formatCount, renderTable, right } from '../output/table.ts';
import { stagingAction } from '../staging-run.ts';

const SHOWN = 200;

interface ListOptions {
  readonly date?: CivilDate;
  readonly check?: CheckCode;
  readonly state: (typeof FINDING_STATES)[number] | 'all';
}

/** Adds the commands for the findings of the checks. */
export function addFindingsCommand(program: Command, exit: Exit): void {
  const findings = program
    .command('findings')
    .description('list the findings of the checks of the titles')
    .option('--date <date>', 'only this accepted date', dateArgument)
    .addOption(new Option('--check <code>', 'only this check').choices(CHECK_CODES))
    .addOption(
      new Option(
        '--state <state>',
        'open, resolved by a person, closed because the fault is gone, or all',
      )
        .choices([...FINDING_STATES, 'all'])
        .default('open'),
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Runs the checks on the dates that were not checked yet, then lists the findings. A date with an open finding of
the severity "review" is in the state "attention". At most ${SHOWN} findings are listed; the total is named.
docs/checks.md describes each check. CHECK_SEVERITIES changes their severities.

Exit status: 0 nothing has to be resolved, 3 findings need a person.

Example: conciliation findings --date 2026-03-02`,
    )
    .action(
      stagingAction(exit, async (database, run, options: ListOptions) => {
        await checkDays(database, checkRules(run.config), run.signal);
        return listFindings(database, options);
      }),
    );
  addResolve(findings, exit);
}

async function listFindings(database: Database, options: ListOptions): Promise<CommandResult> {
  const filter = {
    date: options.date ?? null,
    code: options.check ?? null,
    state: options.state === 'all' ? null : options.state,
    severity: null,
  };
  const [total, toResolve, rows] = await Promise.all([
    countFindings(database, filter),
    countFindings(database, { ...filter, state: 'open', severity: 'review' }),
    readFindings(database, filter, { offset: 0, limit: SHOWN }),
  ]);
  return {
    document: { total, toResolve, findings: rows },
    text:
      total === 0
        ? 'No finding.'
        : [
            findingsTable(rows),
            '',
            `${formatCount(rows.length)} of ${formatCount(total)} finding(s).`,
            ...(toResolve > 0
              ? [
                  `${formatCount(toResolve)} have to be resolved: conciliation findings resolve --date D --check C --reason "…"`,
                ]
              : []),
          ].join('\n'),
    exit: toResolve > 0 ? EXIT.needsPerson : EXIT.done,
  };
}

function findingsTable(rows: readonly FindingRow[]): string {
  return renderTable(
    ['date', right('title'), 'order', right('value'), 'check', 'severity', 'state', 'compared'],
    rows.map((row) => [
      row.date,
      String(row.titleId),
      row.orderUid,
      row.originalValue,
      `${row.code}: ${CHECK_TEXTS.en[row.code].name}`,
      row.severity,
      row.state,
      Object.entries(row.detail)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    ]),
  );
}

interface ResolveOptions {
  readonly date: CivilDate;
  readonly check: CheckCode;
  readonly title?: bigint;
  readonly reason: string;
}

function addResolve(findings: Command, exit: Exit): void {
  findings
    .command('resolve')
    .description('resolve the open findings of a check on a date')
    .requiredOption('--date <date>', 'the accepted date', dateArgument)
    .addOption(new Option('--check <code>', 'the check').choices(CHECK_CODES).makeOptionMandatory())
    .option('--title <id>', 'only this title', idArgument('title'))
    .requiredOption(
      '--reason <text>',
      'why the titles are right; kept in the audit log',
      reasonArgument,
    )
    .addHelpText(
      'after',
      `
Findings stay resolved while their titles have the same content. The day is reconciled when no other item is open.
With SIGN_OFF_FOUR_EYES=on, the person who resolves a finding cannot sign the day off.

Example: conciliation findings resolve --date 2026-03-02 --check agent_is_provider --reason "the agent anticipates its own receivables"`,
    )
    .action(stagingAction(exit, resolve));
}

async function resolve(
  database: Database,
  _: CommandRun,
  { date, check: code, title, reason }: ResolveOptions,
): Promise<CommandResult> {
  const seen = { date, code, newestId: BigInt(Number.MAX_SAFE_INTEGER), titleId: title ?? null };
  const resolved = await resolveFindings(database, seen, { by: operatorName(), reason });
  return {
    document: { date, check: code, resolved },
    text: `${formatCount(resolved)} finding(s) of ${date} resolved by ${operatorName()}.`,
  };
}
