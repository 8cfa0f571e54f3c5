import { recordAudit } from '../base/audit/audit.ts';
import { InputError } from '../base/runtime/errors.ts';
import { LANGUAGES } from '../base/texts/texts.ts';
import { setConsumer } from '../features/bookings/consumers.ts';
import { FEED_FORMATS, openFeedFile } from '../features/bookings/feed.sql.ts';
import {
  argument,
  command,
  flag,
  idOf,
  oneOf,
  optional,
  preset,
  required,
  stagingCommand,
  withStaging,
} from './command.ts';
import { checkOutFile, writeOutFile } from './export.ts';
import { formatCount } from './output/table.ts';

const consumer = stagingCommand({
  name: 'bookings consumer',
  does: 'name a system that posts lines, or change it',
  words: {
    name: argument('the consumer; "erp" has the lines of every buyer without another consumer'),
    databaseRole: optional('<user>', 'the database user that reads the feed for the consumer'),
    key: optional('<id>', 'the API key of the consumer', (text) =>
      text === '' ? null : idOf('key')(text),
    ),
    buyers: optional('<list>', 'the CNPJs of the buyers of the lines, separated by commas'),
  },
  help: `A missing option leaves its setting as it is; the value "" removes the setting. A buyer is the same with or
without its mask, its leading zeros and lower case letters, here and in the titles. A text that is no CNPJ with
the right check digits is refused.

Example: conciliation bookings consumer erp --database-role erp_user`,
  async run(database, { name, databaseRole, key, buyers }, { by }) {
    const before = await database.prisma.bookingConsumer.findUnique({ where: { name } });
    const keyId = key === undefined ? (before?.apiKeyId ?? null) : key;
    const settings = {
      name,
      databaseRole: (databaseRole ?? before?.databaseRole) || null,
      apiKeyId: keyId === null ? null : Number(keyId),
      buyers: buyers?.split(',').flatMap((buyer) => buyer.trim() || []) ?? before?.buyers ?? [],
    };
    await setConsumer(database, settings, by);
    return { document: settings, text: `the consumer ${name} is set` };
  },
});

const exportLines = command({
  name: 'bookings export',
  does: 'write the lines of the booking feed to a file',
  words: {
    after: required('<seq>', 'the last processed position; 0 at first', toPosition),
    format: required('<format>', 'the file format', oneOf(FEED_FORMATS)),
    out: required('<file>', 'the file'),
    consumer: preset('<name>', 'the consumer of the lines', 'erp', String),
    locale: preset('<locale>', 'of csv: separators and decimal sign', 'en', oneOf(LANGUAGES)),
    force: flag('replace the file if it exists'),
  },
  help: `This command is for an ERP that imports files. The file has the lines after the position in the order of the feed,
and is visible only when it is complete. The output has the number of lines, the SHA-256 of the file and the position for the next file. The
position states that the consumer has processed the lines up to this position, as with the API. The audit log has an
entry for every export. The file holds tax identifiers, names and bank accounts.

Exit status: 0 written, 1 failed or interrupted, 2 wrong usage or the file cannot be written.

Example: conciliation bookings export --after 0 --format csv --out bookings-1.csv`,
  needs: { platform: false },
  async run(run, options) {
    const { after, consumer, force, format, locale, out } = options;
    if (run.config.bookingsFrom === null) throw new InputError('BOOKINGS_FROM: not set');
    const file = { path: out, force };
    await checkOutFile(file);
    return withStaging(run, async ({ database }) => {
      const feed = await openFeedFile(database, { consumer, after, format, locale });
      // Before the first byte, so that no line leaves the database without an entry in the audit log.
      const details = { consumer, after: after.toString(), format };
      await recordAudit(database.prisma, { actor: run.by, action: 'bookings.export', details });
      const bytes = await writeOutFile(file, feed.bytes, run.signal);
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

export const COMMANDS = [consumer, exportLines];

function toPosition(text: string): bigint {
  return text === '0' ? 0n : idOf('position')(text);
}
