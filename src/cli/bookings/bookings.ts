import type { Command } from 'commander';
import { Option } from 'commander';
import { recordAudit } from '../../base/audit/audit.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { Language } from '../../base/texts/texts.ts';
import { setConsumer } from '../../features/bookings/consumers.ts';
import { FEED_FORMATS, type FeedFormat, openFeedFile } from '../../features/bookings/feed-file.ts';
import { idArgument } from '../arguments.ts';
import {
  type CommandResult,
  type CommandRun,
  commandAction,
  type Exit,
  stagingAction,
  withStaging,
} from '../command-run.ts';
import { checkOutFile, writeOutFile } from '../output/out-file.ts';
import { formatCount } from '../output/table.ts';

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
    .addHelpText(
      'after',
      `
Replaces all settings of the consumer: a missing option removes the setting. A buyer is the same with or
without its mask, its leading zeros and lower case letters, here and in the titles. A text that is no CNPJ with
the right check digits is refused.

Example: conciliation bookings consumer erp --database-role erp_user`,
    )
    .action(
      stagingAction(exit, async (database, { by }, name: string, options: ConsumerOptions) => {
        const buyers = options.buyers?.split(',').map((buyer) => buyer.trim()) ?? [];
        const consumer = {
          name,
          databaseRole: options.databaseRole ?? null,
          apiKeyId: options.key === undefined ? null : Number(options.key),
          buyers: buyers.filter((buyer) => buyer !== ''),
        };
        await setConsumer(database, consumer, by);
        return { document: consumer, text: `the consumer ${name} is set` };
      }),
    );
}

interface ExportOptions {
  readonly after: bigint;
  readonly consumer: string;
  readonly format: FeedFormat;
  readonly locale: Language;
  readonly out: string;
  readonly force?: boolean;
}

/** Adds the command that writes the feed of a consumer to a file. */
function addExportBookings(bookings: Command, exit: Exit): void {
  bookings
    .command('export')
    .description('write the lines of the booking feed to a file')
    .requiredOption('--after <seq>', 'the last processed position; 0 at first', positionArgument)
    .addOption(
      new Option('--format <format>', 'the file format')
        .choices(FEED_FORMATS)
        .makeOptionMandatory(),
    )
    .requiredOption('--out <file>', 'the file')
    .option('--consumer <name>', 'the consumer of the lines', 'erp')
    .addOption(
      new Option('--locale <locale>', 'of csv: separators and decimal sign')
        .choices(['pt-BR', 'en'])
        .default('en'),
    )
    .option('--force', 'replace the file if it exists')
    .addHelpText(
      'after',
      `
This command is for an ERP that imports files. The file has the lines after the position in the order of the feed,
and is visible only when it is complete. The output has the number of lines, the SHA-256 of the file and the position for the next file. The
position states that the consumer has processed the lines up to this position, as with the API. The audit log has an
entry for every export. The file holds tax identifiers, names and bank accounts.

Exit status: 0 written, 1 failed or interrupted, 2 wrong usage or the file cannot be written.

Example: conciliation bookings export --after 0 --format csv --out bookings-1.csv`,
    )
    .action(commandAction(exit, { platform: false }, writeFeed));
}

async function writeFeed(run: CommandRun, options: ExportOptions): Promise<CommandResult> {
  const { after, consumer, format, locale, out } = options;
  if (run.config.bookingsFrom === null) throw new InputError('BOOKINGS_FROM: not set');
  const file = { path: out, force: options.force === true };
  await checkOutFile(file);
  return withStaging(run, async ({ database }) => {
    const feed = await openFeedFile(database, { consumer, after, format, locale });
    // Before the first byte, so that no line leaves the database without an entry in the audit log.
    await recordAudit(database.prisma, {
      actor: run.by,
      action: 'bookings.export',
      details: { consumer, after: after.toString(), format },
    });
    const bytes = await writeOutFile(file, feed.bytes, run.signal);
    const totals = feed.totals();
    return {
      document: { file: out, format, consumer, after: after.toString(), ...totals, bytes },
      text: [
        `${formatCount(totals.lines)} line(s) after ${after} are in ${out} (${format}, ${formatCount(bytes)} bytes).`,
        `SHA-256 ${totals.sha256}`,
        `Next: --after ${totals.next}`,
      ].join('\n'),
    };
  });
}

function positionArgument(text: string): bigint {
  return text === '0' ? 0n : idArgument('position')(text);
}
