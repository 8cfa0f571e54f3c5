// A separate process that opens the embedded database: node opening-process.mjs <options as JSON>.
// It answers on standard output, one JSON document a line, and closes when standard input ends.
import { pino } from 'pino';
import { openEmbeddedPostgres } from '#dist/base/embedded/embedded-postgres.js';

/** @type {{ dataDir: string }} */
const { dataDir } = JSON.parse(process.argv[2] ?? '');
const logger = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' }, pino.destination(2));
const answer = (/** @type {object} */ document) => console.log(JSON.stringify(document));

// As the service does: a Ctrl-C in the terminal is the beginning of an orderly end.
process.on('SIGINT', () => answer({ interrupted: true }));

try {
  const database = await openEmbeddedPostgres({ dataDir, logger });
  answer({ url: database.url });
  process.stdin.resume().once('end', async () => {
    await database.close();
    answer({ closed: true });
    process.exit(0);
  });
} catch (caught) {
  const error = /** @type {Error} */ (caught);
  answer({ error: error.name, message: error.message });
  process.exit(1);
}
