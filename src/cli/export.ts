import { randomBytes } from 'node:crypto';
import { access, constants, lstat, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { recordAudit } from '../base/audit/audit.ts';
import { InputError, ShutdownError } from '../base/runtime/errors.ts';
import { LANGUAGES } from '../base/texts/texts.ts';
import { wordsOf } from '../console/shell/page-context.ts';
import { setConsumer } from '../features/bookings/consumers.ts';
import { FEED_FORMATS, openFeedFile } from '../features/bookings/feed.sql.ts';
import { readDoubtfulDates, titlesAccepted } from '../features/titles/export-titles.sql.ts';
import { EXPORT_FORMATS, withTitleFile } from '../features/titles/title-file.ts';
import {
  command,
  formatCount,
  idOf,
  linesOf,
  stagingCommand,
  toDate,
  withStaging,
} from './command.ts';

const exportTitles = command({
  name: 'export',
  does: 'write the titles of a range of dates to a file',
  words: (line) =>
    line
      .requiredOption('--from <date>', 'first accepted date, YYYY-MM-DD', toDate)
      .requiredOption('--to <date>', 'last accepted date, YYYY-MM-DD', toDate)
      .addOption(
        new Option('--format <format>', 'the file format')
          .choices(EXPORT_FORMATS)
          .makeOptionMandatory(),
      )
      .requiredOption('--out <file>', 'the file')
      .addOption(
        new Option(
          '--locale <locale>',
          'of csv: separators and decimal sign (default: "pt-BR")',
        ).choices(LANGUAGES),
      )
      .option('--include-withdrawn', 'withdrawn titles too; sums never count them'),
  help: `Writes the titles as they were at one instant, by accepted date, order and occurrence, with the column
names of the data dictionary. The file appears when it is complete. Every export is kept in the audit log.

  csv    UTF-8 for Excel. pt-BR: ";" between cells and decimal commas; en: "," and points. Text that a
         spreadsheet would run as a formula gets a ' in front. Import identifiers as text, or use xlsx:
         a spreadsheet that opens a csv drops leading zeros (00007) and reads an E between digits as an
         exponent, so the CNPJ 12345678E00131 and the order 12E34 become numbers. Quotes do not prevent it.
  xlsx   Typed numbers and dates, identifiers as text. Excel keeps 15 digits of a number: an amount that has
         more is written as text.
  jsonl  One JSON object a line; amounts are strings, so that no reader rounds them.

The file holds tax identifiers, names and bank accounts.

Exit status: 0 written, 1 failed or interrupted, 2 wrong usage or the file cannot be written.

Example: conciliation export --from 2026-03-01 --to 2026-03-31 --format xlsx --out march.xlsx`,
  needs: { platform: false },
  async run(run, { from, to, format, out, locale, includeWithdrawn = false }) {
    if (from > to) throw new InputError(`--from ${from} is after --to ${to}`);
    if (locale !== undefined && format !== 'csv') {
      throw new InputError(`--locale ${locale}: requires --format csv`);
    }
    await checkOutFile(out);

    const selection = titlesAccepted({ from, to, includeWithdrawn });
    const file = {
      ...{ format, actor: run.by, isMasked: false },
      ...{ page: wordsOf('en', 'UTC'), locale: locale ?? 'pt-BR' },
    };
    return withStaging(run, ({ database }) =>
      withTitleFile(database, selection, file, run.signal, async ({ bytes: read, totals }) => {
        const { current, withdrawn, sums } = totals;
        const rows = current + withdrawn;
        const bytes = await writeOutFile(out, read, run.signal);
        const doubtful = await readDoubtfulDates(database, { from, to }, to);
        return {
          document: {
            ...{ file: out, format, from, to, includeWithdrawn, rows, withdrawn, sums, bytes },
            doubtfulDates: doubtful,
          },
          text: linesOf(
            `${formatCount(rows)} title(s) accepted from ${from} to ${to} are in ${out} (${format}, ${formatCount(bytes)} bytes).`,
            withdrawn > 0 && `${formatCount(withdrawn)} of them are withdrawn and in no sum.`,
            doubtful > 0 &&
              `Warning: ${formatCount(doubtful)} date(s) of the range are not reconciled.`,
          ),
        };
      }),
    );
  },
});

/** Titles hold tax identifiers and bank accounts. */
const OWNER_ONLY = 0o600;

/** @throws InputError when the file exists or cannot be created */
async function checkOutFile(path: string): Promise<void> {
  const existing = await lstat(path).catch(() => null);
  if (existing !== null) throw new InputError(`--out ${path}: exists already`);
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw cannotWrite(path, error);
  });
}

function cannotWrite(path: string, error: unknown): InputError {
  const { code } = error as NodeJS.ErrnoException;
  return new InputError(`--out ${path}: cannot be written (${code})`, { cause: error });
}

/**
 * Writes a file completely or not at all: to a temporary file in the same folder, which is renamed when all bytes are on
 * the disk and removed after a failure.
 * @returns the file's size in bytes
 * @throws InputError when the file cannot be written, ShutdownError when `signal` is aborted, and what `bytes` throws
 */
export async function writeOutFile(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const name = `.conciliation-export-${randomBytes(6).toString('hex')}.partial`;
  const partial = join(dirname(path), name);
  try {
    await writeFile(partial, bytes, { signal, flag: 'wx', mode: OWNER_ONLY, flush: true });
    const { size } = await stat(partial);
    // Checked a second time, because another program may have created the file meanwhile.
    await checkOutFile(path);
    await rename(partial, path);
    return size;
  } catch (error) {
    await rm(partial, { force: true });
    if (signal.aborted) throw new ShutdownError('the export was interrupted', { cause: error });
    // Errors of the source are of no call of the operating system.
    const { syscall } = error as NodeJS.ErrnoException;
    throw syscall === undefined ? error : cannotWrite(path, error);
  }
}

const consumer = stagingCommand({
  name: 'bookings consumer',
  does: 'name a system that posts lines, or change it',
  words: (line) =>
    line
      .argument(
        '<name>',
        'the consumer; "erp" has the lines of every buyer without another consumer',
      )
      .option('--database-role <user>', 'the database user that reads the feed for the consumer')
      .option('--key <id>', 'the API key of the consumer', (text) =>
        text === '' ? null : idOf('key')(text),
      )
      .option('--buyers <list>', 'the CNPJs of the buyers of the lines, separated by commas'),
  help: `A missing option leaves its setting as it is; the value "" removes the setting. A buyer is the same with or
without its mask, its leading zeros and lower case letters, here and in the titles. A text that is no CNPJ with
the right check digits is refused.

Example: conciliation bookings consumer erp --database-role erp_user`,
  async run(database, { databaseRole, key, buyers }, { by }, [name]) {
    const before = await database.prisma.bookingConsumer.findUnique({ where: { name } });
    const keyId = key === undefined ? (before?.apiKeyId ?? null) : key;
    const settings = {
      name,
      databaseRole: (databaseRole ?? before?.databaseRole) || null,
      apiKeyId: keyId === null ? null : Number(keyId),
      buyers: buyers?.split(',').flatMap((buyer) => buyer.trim() || []) ?? before?.buyers ?? [],
    };
    await setConsumer(database, settings, by);
    const stated = (one: typeof settings | NonNullable<typeof before>) =>
      `database role ${one.databaseRole ?? 'none'}, key ${one.apiKeyId ?? 'none'}, ${one.buyers.length} buyer(s)`;
    return {
      document: { ...settings, before },
      text: `the consumer ${name} has ${stated(settings)}; before: ${before === null ? 'it is new' : stated(before)}`,
    };
  },
});

const exportLines = command({
  name: 'bookings export',
  does: 'write the lines of the booking feed to a file',
  words: (line) =>
    line
      .requiredOption('--after <seq>', 'the last processed position; 0 at first', toPosition)
      .addOption(
        new Option('--format <format>', 'the file format')
          .choices(FEED_FORMATS)
          .makeOptionMandatory(),
      )
      .requiredOption('--out <file>', 'the file')
      .option('--consumer <name>', 'the consumer of the lines', 'erp')
      .addOption(
        new Option('--locale <locale>', 'of csv: separators and decimal sign')
          .choices(LANGUAGES)
          .default('en' as const),
      ),
  help: `This command is for an ERP that imports files. The file has the lines after the position in the order of the feed,
and is visible only when it is complete. The output has the number of lines, the SHA-256 of the file and the position for the next file. The
position states that the consumer has processed the lines up to this position, as with the API. The audit log has an
entry for every export. The file holds tax identifiers, names and bank accounts.

Exit status: 0 written, 1 failed or interrupted, 2 wrong usage or the file cannot be written.

Example: conciliation bookings export --after 0 --format csv --out bookings-1.csv`,
  needs: { platform: false },
  async run(run, options) {
    const { after, consumer, format, locale, out } = options;
    if (run.config.bookingsFrom === null) throw new InputError('BOOKINGS_FROM: not set');
    await checkOutFile(out);
    return withStaging(run, async ({ database }) => {
      const feed = await openFeedFile(database, { consumer, after, format, locale });
      // Before the first byte, so that no line leaves the database without an entry in the audit log.
      const details = { consumer, after: after.toString(), format };
      await recordAudit(database.prisma, { actor: run.by, action: 'bookings.export', details });
      const bytes = await writeOutFile(out, feed.bytes, run.signal);
      const totals = feed.totals();
      return {
        document: { file: out, ...details, ...totals, bytes },
        text: [
          `${formatCount(totals.lines)} line(s) after ${after} are in ${out} (${format}, ${formatCount(bytes)} bytes).`,
          `SHA-256 ${totals.sha256}`,
          `Next: --after ${totals.next}`,
        ].join('\n'),
      };
    });
  },
});

function toPosition(text: string): bigint {
  return text === '0' ? 0n : idOf('position')(text);
}

export const COMMANDS = [exportTitles, consumer, exportLines];
