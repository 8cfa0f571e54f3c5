import type { Command } from 'commander';
import { setConsumer } from '../../bookings/consumers.sql.ts';
import { adoptReceipts, dismissReceipts } from '../../bookings/receipt-decisions.sql.ts';
import type { ReleaseRules } from '../../bookings/release-conditions.sql.ts';
import type { Config } from '../../config/config.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import { InputError } from '../../runtime/errors.ts';
import { dateArgument, idArgument, reasonArgument } from '../arguments.ts';
import type { Exit } from '../command-run.ts';
import { operatorName } from '../operator-name.ts';
import { stagingAction } from '../staging-run.ts';
import { addExportBookings } from './export-bookings.ts';

const releaseRules = (config: Config): ReleaseRules => ({
  payablesMaxAgeHours: config.erpPayablesMaxAgeHours,
});

/** Adds the commands with a person's decisions about bookings. */
export function addBookingsCommand(program: Command, exit: Exit): void {
  const bookings = program
    .command('bookings')
    .description('the booking lines that sign-offs release to the ERP');
  addReceipts(bookings, exit);
  addConsumer(bookings, exit);
  addExportBookings(bookings, exit);
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
