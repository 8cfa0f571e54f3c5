import { type Command, InvalidArgumentError } from 'commander';
import { enterBookedOutside } from '../../bookings/booked-outside.sql.ts';
import { setConsumer } from '../../bookings/consumers.sql.ts';
import { adoptReceipts, dismissReceipts } from '../../bookings/receipt-decisions.sql.ts';
import type { ReleaseRules } from '../../bookings/release-conditions.sql.ts';
import type { Config } from '../../config/config.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import { InputError } from '../../runtime/errors.ts';
import { dateArgument, idArgument, integerArgument, reasonArgument } from '../arguments.ts';
import type { Exit } from '../command-run.ts';
import { operatorName } from '../operator-name.ts';
import { stagingAction } from '../staging-run.ts';
import { addExportBookings } from './export-bookings.ts';

const releaseRules = (config: Config): ReleaseRules => ({
  bookingsFrom: config.bookingsFrom,
  payablesMaxAgeHours: config.erpPayablesMaxAgeHours,
});

const MAX_TITLES = 2_000_000_000;

/** Adds the commands with a person's decisions about bookings. */
export function addBookingsCommand(program: Command, exit: Exit): void {
  const bookings = program
    .command('bookings')
    .description('the booking lines that sign-offs release to the ERP');
  addOutside(bookings, exit);
  addReceipts(bookings, exit);
  addConsumer(bookings, exit);
  addExportBookings(bookings, exit);
}

interface OutsideOptions {
  readonly from: CivilDate;
  readonly to: CivilDate;
  readonly titles: number;
  readonly originalValue: string;
  readonly signedBefore?: Date;
  readonly reason: string;
}

function addOutside(bookings: Command, exit: Exit): void {
  bookings
    .command('outside')
    .description('record the bookings that were made before sign-offs released bookings')
    .requiredOption('--from <date>', 'first accepted date', dateArgument)
    .requiredOption('--to <date>', 'last accepted date', dateArgument)
    .requiredOption('--titles <count>', 'titles that were booked', integerArgument(0, MAX_TITLES))
    .requiredOption('--original-value <sum>', 'sum of their original values', decimalArgument)
    .option('--signed-before <instant>', 'only sign-offs before this instant', instantArgument)
    .requiredOption(
      '--reason <text>',
      'how the titles were booked; kept in the audit log',
      reasonArgument,
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Days that were signed off before BOOKINGS_FROM was set release nothing until their bookings are recorded. The
totals have to equal the totals of the newest sign-offs of these days. Later sign-offs release the differences.
With 0 titles no title of the days was booked, and their sign-offs release all titles.

Example: conciliation bookings outside --from 2026-01-01 --to 2026-02-28 --titles 4812 --original-value 918273.45 --reason "booked by hand"`,
    )
    .action(
      stagingAction(exit, async (database, { config }, options: OutsideOptions) => {
        const { reason, signedBefore = null, from, to, titles, originalValue } = options;
        const dates = await enterBookedOutside(
          database,
          { ...{ from, to, titles, originalValue, signedBefore }, ...releaseRules(config) },
          { by: operatorName(), reason },
        );
        return {
          document: { dates },
          text: `recorded the outside bookings of ${dates.length} days`,
        };
      }),
    );
}

interface DecisionOptions {
  readonly reason: string;
}

function addReceipts(bookings: Command, exit: Exit): void {
  const add = (
    name: string,
    description: string,
    help: string,
    decide: typeof adoptReceipts,
    done: string,
  ) => {
    bookings
      .command(name)
      .description(description)
      .argument('<date>', 'the accepted date', dateArgument)
      .requiredOption('--reason <text>', 'the reason; kept in the audit log', reasonArgument)
      .option('--json', 'print one JSON document')
      .addHelpText('after', help)
      .action(
        stagingAction(
          exit,
          async (database, { config }, date: CivilDate, { reason }: DecisionOptions) => {
            const { bookingsFrom } = config;
            if (bookingsFrom === null) throw new InputError('BOOKINGS_FROM: not set');
            const decision = { by: operatorName(), reason, ...releaseRules(config), bookingsFrom };
            const receipts = await decide(database, date, decision);
            return { document: { date, receipts }, text: `${date}: ${receipts} receipts ${done}` };
          },
        ),
      );
  };
  add(
    'adopt',
    'accept receipts that do not fit the released lines',
    `
After a restore of the database the ERP may have posted lines that the database does not know. Its receipts keep the
date from being released. This command records the content that the ERP has posted. The next release replaces that content by
the signed-off content.

Example: conciliation bookings adopt 2026-03-02 --reason "the database was restored on 4 March"`,
    adoptReceipts,
    'adopted',
  );
  add(
    'dismiss',
    'discard receipts that do not fit the released lines',
    `
The receipts have no effect from then on. First check in the ERP that the ERP has posted no line of these receipts.

Example: conciliation bookings dismiss 2026-03-02 --reason "sent by the test system"`,
    dismissReceipts,
    'dismissed',
  );
}

interface ConsumerOptions {
  readonly databaseRole?: string;
  readonly key?: bigint;
  readonly buyers?: string;
}

function addConsumer(bookings: Command, exit: Exit): void {
  bookings
    .command('consumer')
    .description('name a system that posts lines, or change it')
    .argument('<name>', 'the consumer; "erp" has the lines of every buyer without another consumer')
    .option('--database-role <user>', 'the database user that reads the feed for the consumer')
    .option('--key <id>', 'the API key of the consumer', idArgument('key'))
    .option('--buyers <list>', 'the CNPJs of the buyers of the lines, separated by commas')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Replaces all settings of the consumer: a missing option removes the setting. A buyer is the same with or
without its mask, its leading zeros and lower case letters, here and in the titles. A text that is no CNPJ with
the right check digits is refused.

Example: conciliation bookings consumer erp --database-role erp_user`,
    )
    .action(
      stagingAction(exit, async (database, _, name: string, options: ConsumerOptions) => {
        const buyers = options.buyers?.split(',').map((buyer) => buyer.trim()) ?? [];
        const consumer = {
          name,
          databaseRole: options.databaseRole ?? null,
          apiKeyId: options.key === undefined ? null : Number(options.key),
          buyers: buyers.filter((buyer) => buyer !== ''),
        };
        await setConsumer(database, consumer, operatorName());
        return { document: consumer, text: `the consumer ${name} is set` };
      }),
    );
}

function decimalArgument(text: string): string {
  if (!/^\d{1,30}(\.\d{1,30})?$/.test(text)) {
    throw new InvalidArgumentError('Expected a decimal such as 1234.50.');
  }
  return text;
}

function instantArgument(text: string): Date {
  const instant = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) || Number.isNaN(instant.getTime())) {
    throw new InvalidArgumentError('Expected an instant such as 2026-03-02T12:00:00Z.');
  }
  return instant;
}
