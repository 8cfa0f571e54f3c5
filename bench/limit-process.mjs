// The limit in a process of its own: one connection, one transaction a response.
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { answerParent } from './child.mjs';
import { COPY_INCOMING, CREATE_INCOMING, MERGE_INCOMING, WITHDRAW_MISSING } from './limit.mjs';
import { startMeter } from './meter.mjs';

const CHUNK_BYTES = 256 * 1024;

/** @import { RenderedRequest } from './render-process.mjs' */

/** @type {pg.Client | null} */
let client = null;

const handlers = {
  /** @param {{ databaseUrl: string }} options */
  async open({ databaseUrl }) {
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    // As every session of the product has it.
    await client.query('SET TimeZone TO UTC');
  },

  /** @param {{ requests: RenderedRequest[], withdraws: boolean }} options */
  async run({ requests, withdraws }) {
    if (client === null) throw new Error('run before open');
    const meter = startMeter();
    let titles = 0;
    await client.query(CREATE_INCOMING);
    for (const { rows, window } of requests) {
      await client.query('BEGIN');
      const copy = client.query(copyFrom(COPY_INCOMING));
      await pipeline(createReadStream(rows, { highWaterMark: CHUNK_BYTES }), copy);
      titles += copy.rowCount;
      await client.query(MERGE_INCOMING);
      if (withdraws) await client.query(WITHDRAW_MISSING, [[window.from]]);
      await client.query('COMMIT');
    }
    const measured = await meter.stop();
    return { ...measured, titles };
  },

  async close() {
    await client?.end();
  },
};
/** @typedef {typeof handlers} Handlers */

answerParent(handlers);
