import type { Command } from 'commander';
import type { CivilDate } from '../../domain/business-day.ts';
import {
  type ComparedField,
  type ExplainedDate,
  type ExplainedTitle,
  explainDate,
} from '../../matching/explain-date.sql.ts';
import { runMatching } from '../../matching/run-matching.sql.ts';
import { arePayablesStale, hasPayables } from '../../payables/payable-state.sql.ts';
import { InputError } from '../../runtime/errors.ts';
import { dateArgument } from '../arguments.ts';
import { EXIT, type Exit } from '../command-run.ts';
import { operatorName } from '../operator-name.ts';
import { formatCount } from '../output/table.ts';
import { stagingAction } from '../staging-run.ts';

const STALE = 'The payables of the ERP are stale. The command ran no matching.\n';

/** Adds the command that explains the matches and the breaks of a date. */
export function addMatchCommand(program: Command, exit: Exit): void {
  program
    .command('match')
    .description("match titles with the ERP's payables, and explain one date")
    .requiredOption('--date <date>', 'the accepted date', dateArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Runs the matching over all titles, as the service does within a minute after a change. Then prints for each current
title of <date> its match, with the rule, the version of the rules and the compared fields, or its break. At most 12
other payables that resemble the title follow, each with the reason why the payable is not the match. Where the
payables are older than ERP_PAYABLES_MAX_AGE_HOURS, the command runs no matching.

Exit status: 0 no break, 3 the date has breaks, or the payables are stale.

Example: conciliation match --date 2026-03-02 --json`,
    )
    .action(
      stagingAction(exit, async (database, { config }, { date }: { date: CivilDate }) => {
        if (!(await hasPayables(database.prisma))) {
          throw new InputError('the ERP has given no payables: see conciliation erp-payables');
        }
        const isStale = await arePayablesStale(database.prisma, config.erpPayablesMaxAgeHours);
        const { timeZone, bookingsFrom } = config;
        const run = isStale
          ? null
          : await runMatching(database, { by: operatorName(), timeZone, bookingsFrom });
        const explained = await explainDate(database, date);
        return {
          document: {
            date,
            isStale,
            run: run === null ? null : { matched: run.matched, reopened: run.reopened },
            ...explained,
          },
          text: `${isStale ? STALE : ''}${explainedText(date, explained)}`,
          exit: isStale || explained.breaks.length > 0 ? EXIT.needsPerson : EXIT.done,
        };
      }),
    );
}

function explainedText(date: CivilDate, { titles, breaks }: ExplainedDate): string {
  const matched = titles.filter(({ match }) => match !== null).length;
  return [
    `${date}: ${formatCount(matched)} of ${formatCount(titles.length)} titles are matched; ${formatCount(breaks.length)} break(s).`,
    ...titles.flatMap((title) => ['', ...titleText(title)]),
    ...(breaks.length > 0 ? ['', 'Breaks:'] : []),
    ...breaks.map(
      ({ kind, title, payable }) =>
        `  ${kind}: ${title === null ? 'no title' : `title ${title.id} (order ${title.orderUid})`}, ${payable === null ? 'no payable' : `payable ${payable.erpKey}`}`,
    ),
  ].join('\n');
}

function titleText({ titleId, orderUid, value, match, candidates }: ExplainedTitle): string[] {
  return [
    `title ${titleId}, order ${orderUid}, ${value}: ${match === null ? 'no match' : matchText(match)}`,
    ...(match?.payables ?? []).map(
      ({ payable, compared }) => `  ${payable.erpKey}: ${comparedText(compared)}`,
    ),
    ...candidates.map(
      ({ payable, compared, notTaken }) =>
        `  not ${payable.erpKey} (${notTaken}): ${comparedText(compared)}`,
    ),
  ];
}

function matchText(match: NonNullable<ExplainedTitle['match']>): string {
  const { rule, version, madeBy, payables, otherTitles } = match;
  const keys = payables.map(({ payable }) => payable.erpKey).join(' + ');
  const others = otherTitles.length > 0 ? `, with the titles ${otherTitles.join(', ')}` : '';
  return `payable ${keys}${others}, by the rule "${rule}", version ${version}, by ${madeBy}`;
}

function comparedText(compared: readonly ComparedField[]): string {
  return compared
    .map(({ field, title, payable, isEqual }) =>
      isEqual ? `${field} equal` : `${field} ${title ?? 'none'} against ${payable ?? 'none'}`,
    )
    .join(', ');
}
