// A consumer of title_feed: appends one line for each row to its file, and takes its cursor from the last
// complete line of that file. The process may be killed at any instant.
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const EMPTY_WAIT_MS = 10;
const RETRY_WAIT_MS = 100;

/**
 * @typedef {object} Settings
 * @property {string} file
 * @property {string} databaseUrl
 * @property {string} query SQL with the last number as $1, whose rows have the number as `seq` and the
 *   whole line as `line`
 */

/** @type {Settings} */
const { file, databaseUrl, query } = JSON.parse(process.env['FEED_READER'] ?? '{}');

process.on('disconnect', () => process.exit());
process.send?.({ isStarted: true });

for (;;) {
  const handle = openSync(file, 'a');
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await readOn(client, handle, cutToCursor(handle));
  } catch (caught) {
    const error = /** @type {Error & { code?: string }} */ (caught);
    process.stderr.write(`${new Date().toISOString()} ${error.code ?? ''} ${error.message}\n`);
  } finally {
    await client.end().catch(() => {});
    closeSync(handle);
  }
  await sleep(RETRY_WAIT_MS);
}

/**
 * Returns the number of the last complete line, and removes what a killed process wrote after that line.
 *
 * @param {number} handle of the file
 */
function cutToCursor(handle) {
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf('\n') + 1;
  ftruncateSync(handle, end);
  if (end === 0) return '0';
  const [last = ''] = bytes
    .toString('latin1', bytes.lastIndexOf('\n', end - 2) + 1, end)
    .split(' ');
  return last;
}

/**
 * Ends with the connection.
 *
 * @param {pg.Client} client
 * @param {number} handle of the file
 * @param {string} cursor
 */
async function readOn(client, handle, cursor) {
  let last = cursor;
  for (;;) {
    const { rows } = await client.query({ name: 'feed', text: query, values: [last] });
    if (rows.length === 0) {
      await sleep(EMPTY_WAIT_MS);
      continue;
    }
    writeSync(handle, `${rows.map(({ line }) => line).join('\n')}\n`);
    last = rows.at(-1).seq;
  }
}
