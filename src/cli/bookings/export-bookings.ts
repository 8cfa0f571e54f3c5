import { type Command, Option } from 'commander';
import { recordAudit } from '../../base/audit/audit.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { Language } from '../../base/texts/texts.ts';
import { FEED_FORMATS, type FeedFormat, openFeedFile } from '../../features/bookings/feed-file.ts';
import { idArgument } from '../arguments.ts';
import { type CommandResult, type CommandRun, commandAction, type Exit } from '../command-run.ts';
import { operatorName } from '../operator-name.ts';
import { checkOutFile, writeOutFile } from '../output/out-file.ts';
import { formatCount } from '../output/table.ts';
import { withStaging } from '../staging-run.ts';

interface ExportOptions {
  readonly after: bigint;
  readonly consumer: string;
  readonly format: FeedFormat;
  readonly locale: Language;
  readonly out: string;
  readonly force?: boolean;
}

/** Adds the command that writes the feed of a consumer to a file. */
export function addExportBookings(bookings: Command, exit: Exit): void {
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
    .option('--json', 'print one JSON document')
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
  return withStaging(run, async (database) => {
    const feed = await openFeedFile(database, { consumer, after, format, locale });
    // Before the first byte, so that no line leaves the database without an entry in the audit log.
    await recordAudit(database.prisma, {
      actor: operatorName(),
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
