import type { Command } from 'commander';
import { setConsumer } from '../../features/bookings/consumers.ts';
import { idArgument } from '../arguments.ts';
import type { Exit } from '../command-run.ts';
import { operatorName } from '../operator-name.ts';
import { stagingAction } from '../staging-run.ts';
import { addExportBookings } from './export-bookings.ts';

/** Adds the commands about bookings. */
export function addBookingsCommand(program: Command, exit: Exit): void {
  const bookings = program
    .command('bookings')
    .description('the booking lines that sign-offs release to the ERP');
  addConsumer(bookings, exit);
  addExportBookings(bookings, exit);
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
