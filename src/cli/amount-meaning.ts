import type { Command } from 'commander';
import { DISCOUNTED_FIELDS } from '../domain/amount-meaning.ts';
import { addDays, type CivilDate, lastClosedDate } from '../domain/business-day.ts';
import { EVIDENCE_TITLES, readAmountEvidence } from '../ledger/amount-evidence.sql.ts';
import { InputError } from '../runtime/errors.ts';
import { dateArgument } from './arguments.ts';
import type { Exit } from './command-run.ts';
import { formatCount, renderTable, right } from './output/table.ts';
import { stagingAction } from './staging-run.ts';

const DEFAULT_DAYS = 31;

/** Adds the command that counts how often titles agree with each meaning of an amount. */
export function addAmountMeaningCommand(program: Command, exit: Exit): void {
  program
    .command('amount-meaning')
    .description('count the evidence of the titles for the meaning of the undocumented amounts')
    .option('--from <date>', 'first accepted date', dateArgument)
    .option('--to <date>', 'last accepted date', dateArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
For each of the three amounts: how many titles state the amount, have zero, less than half of the original
value, as a discount mostly is, or half of it or more, as a net value mostly is; and the equations with other
fields that hold most often. Reads at most ${EVIDENCE_TITLES} current titles, of the newest dates; without a
range those of the last ${DEFAULT_DAYS} closed dates. The meaning is declared with AMOUNT_MEANING.

Example: conciliation amount-meaning --from 2026-02-01 --to 2026-02-28`,
    )
    .action(
      stagingAction(
        exit,
        async (database, { config }, options: { from?: CivilDate; to?: CivilDate }) => {
          const to = options.to ?? lastClosedDate(config.timeZone, new Date());
          const from = options.from ?? addDays(to, 1 - DEFAULT_DAYS);
          if (from > to) throw new InputError(`--from ${from} is after --to ${to}`);
          const evidence = await readAmountEvidence(database, { from, to });
          const amounts = evidence.map(({ column, ...counts }) => ({
            field: DISCOUNTED_FIELDS[column],
            declared: config.amountMeanings[column],
            ...counts,
          }));
          const table = renderTable(
            [
              'field',
              'declared',
              right('titles'),
              right('zero'),
              right('below half'),
              right('from half'),
              right('above'),
            ],
            amounts.map((amount) => [
              amount.field,
              amount.declared,
              ...[
                amount.titles,
                amount.zero,
                amount.belowHalf,
                amount.fromHalf,
                amount.aboveOriginal,
              ].map(formatCount),
            ]),
          );
          const equations = amounts.flatMap((amount) =>
            amount.equations.map(
              ({ equation, titles }) =>
                `${equation}: ${formatCount(titles)} of ${formatCount(amount.titles)} titles`,
            ),
          );
          return {
            document: { from, to, amounts },
            text: [table, ...(equations.length === 0 ? [] : ['', ...equations])].join('\n'),
          };
        },
      ),
    );
}
