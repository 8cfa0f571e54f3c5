// What a run left in the tables. Both sides must leave the same, and ours its ledger and history too.
import { AMOUNT_COLUMNS } from '#dist/domain/title.js';
import { LIMIT_TABLE } from './limit.mjs';

const OUR_TABLE = 'conciliation.title';

const sums = AMOUNT_COLUMNS.map((name) => `'${name}', sum(${name})::text`).join(', ');

/**
 * @import { Client } from 'pg'
 *
 * @typedef {Awaited<ReturnType<typeof describeTables>>} Tables
 *
 * @typedef {object} Content of the titles of some dates
 * @property {number} current
 * @property {number} withdrawn
 * @property {Record<string, string>} sums of each amount over the current titles, exact
 * @property {string} digest of their contents, whatever their order
 */

/**
 * @param {Client} client
 * @param {'ours' | 'limit'} program
 * @param {string[]} dates
 */
export async function describeTables(client, program, dates) {
  const table = program === 'ours' ? OUR_TABLE : LIMIT_TABLE;
  return {
    content: await readContent(client, table, dates),
    rowsWritten: await readRowsWritten(client, table),
    ledger: program === 'ours' ? await readLedger(client, dates) : null,
  };
}

/**
 * @typedef {object} Ledger of some dates, and how many revisions the history has
 * @property {number} titles
 * @property {string} originalValue
 * @property {number} reconciled dates
 * @property {string | null} lastReconciledDate
 * @property {number} revisions
 */

/**
 * @param {Client} client
 * @param {string} table
 * @param {string[]} dates
 * @returns {Promise<Content>}
 */
async function readContent(client, table, dates) {
  const { rows } = await client.query(
    `SELECT (count(*) FILTER (WHERE status = 'current'))::int AS current,
            (count(*) FILTER (WHERE status = 'withdrawn'))::int AS withdrawn,
            (SELECT jsonb_build_object(${sums}) FROM ${table}
             WHERE accepted_date = ANY($1::date[]) AND status = 'current') AS sums,
            encode(sha256(coalesce(string_agg(uuid_send(content_hash), '' ORDER BY content_hash)
                                   FILTER (WHERE status = 'current'), '')), 'hex') AS digest
     FROM ${table} WHERE accepted_date = ANY($1::date[])`,
    [dates],
  );
  return rows[0];
}

/**
 * Since the statistics were reset: rows inserted, updated or deleted, also in vain.
 *
 * @param {Client} client
 * @param {string} table
 * @returns {Promise<number>}
 */
async function readRowsWritten(client, table) {
  const { rows } = await client.query(
    `SELECT (n_tup_ins + n_tup_upd + n_tup_del)::int AS written
     FROM pg_stat_user_tables WHERE relid = $1::regclass`,
    [table],
  );
  return rows[0].written;
}

/**
 * @param {Client} client
 * @param {string[]} dates
 * @returns {Promise<Ledger>}
 */
async function readLedger(client, dates) {
  const { rows } = await client.query(
    `SELECT sum(title_count)::int AS titles, sum(original_value_sum)::text AS "originalValue",
            (count(*) FILTER (WHERE state = 'reconciled'))::int AS reconciled,
            (SELECT last_reconciled_date::text FROM conciliation.checkpoint) AS "lastReconciledDate",
            (SELECT count(*)::int FROM conciliation.title_revision) AS revisions
     FROM conciliation.day WHERE date = ANY($1::date[])`,
    [dates],
  );
  return rows[0];
}
