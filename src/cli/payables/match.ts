import type { Command } from 'commander';
import type { Database } from '../../database/database.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import {
  type Comparison,
  type ExplainedDate,
  explainDate,
  type OtherCandidate,
} from '../../matching/explain-date.sql.ts';
import { readDayMatching } from '../../matching/match-reads.sql.ts';
import { MATCHING_ACTOR, runMatching } from '../../matching/run-matching.sql.ts';
import { dateArgument } from '../arguments.ts';
import { type CommandResult, EXIT, type ExitStatus } from '../command-run.ts';
import { runOnStaging } from '../staging-run.ts';

const STALE = 'The payables are stale. No matching was run.';

interface MatchFlags {
  readonly date: CivilDate;
  readonly json?: boolean;
}

export function addMatchCommand(program: Command, exit: (status: ExitStatus) => void): void {
  program
    .command('match')
    .description("match titles with the ERP's payables, and explain the matches of a date")
    .requiredOption('--date <date>', 'the accepted date that is explained', dateArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Runs the matching over all dates, as the service does within a minute after a change, then prints the matches and
the breaks of the date: the rule and its version, both values of each compared field, and at most 12 other
payables near the title, each with the reason why the rules did not take the payable.

Exit status: 0 every title of the date is matched and no break is open, or the ERP has given no payables,
3 a break is open or the payables are stale. On stale payables (ERP_PAYABLES_MAX_AGE_HOURS) the command runs no
matching.

Example: conciliation match --date 2026-03-31 --json`,
    )
    .action(async ({ date, json }: MatchFlags) => {
      exit(
        await runOnStaging(json, (database, run) =>
          matchAndExplain(database, date, run.config.erpPayablesMaxAgeHours),
        ),
      );
    });
}

async function matchAndExplain(
  database: Database,
  date: CivilDate,
  maxAgeHours: number,
): Promise<CommandResult> {
  const matching = await readDayMatching(database, date, maxAgeHours);
  if (matching === null) {
    return {
      document: { date, payables: null },
      text: 'The ERP has given no payables.',
      exit: EXIT.done,
    };
  }
  const { isStale } = matching;
  const run = isStale ? null : await runMatching(database, { by: MATCHING_ACTOR });
  const explained = await explainDate(database, date);
  return {
    document: {
      date,
      isStale,
      run: run === null ? null : { matched: run.matched, reopened: run.reopened },
      ...explained,
    },
    text: `${isStale ? `${STALE}\n` : ''}${textOf(date, explained)}`,
    exit: explained.breaks.length === 0 && !isStale ? EXIT.done : EXIT.needsPerson,
  };
}

function textOf(date: CivilDate, { matches, breaks }: ExplainedDate): string {
  return [
    `${date}: ${matches.length} matches, ${breaks.length} breaks.`,
    ...matches.flatMap(({ titleId, erpKey, rule, ruleVersion, compared, otherCandidates }) => [
      `title ${titleId} = payable ${erpKey}: rule ${rule}, version ${ruleVersion}`,
      ...linesOf(compared, otherCandidates),
    ]),
    ...breaks.flatMap(({ kind, titleId, erpKey, compared, otherCandidates }) => [
      `${kind}: title ${titleId ?? '-'}, payable ${erpKey ?? '-'}`,
      ...linesOf(compared, otherCandidates),
    ]),
  ].join('\n');
}

function linesOf(compared: readonly Comparison[], others: readonly OtherCandidate[]): string[] {
  return [
    ...compared.map(
      ({ field, title, payable, isSame }) =>
        `  ${field}: ${title ?? '-'} ${isSame ? '=' : '<>'} ${payable ?? '-'}`,
    ),
    ...others.map(({ erpKey, notTaken }) => `  not ${erpKey}: ${notTaken}`),
  ];
}
