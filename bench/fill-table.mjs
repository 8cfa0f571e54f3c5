// A table that holds years of titles, written by one statement: what the titles say does not matter,
// only how many there are and how large.
import { addDays } from '#dist/domain/business-day.js';

/** @import { CivilDate } from '#dist/domain/business-day.js' */
/** @import { Server } from './server.mjs' */

const TITLES_PER_DAY = 10_000;

/**
 * Makes `database` hold that many titles on the dates before `until`, with the days and pulls that
 * belong to them.
 *
 * @param {Server} server
 * @param {string} database
 * @param {{ titles: number, until: CivilDate }} wanted
 */
export async function fillTable(server, database, { titles, until }) {
  const days = Math.ceil(titles / TITLES_PER_DAY);
  const startDate = addDays(until, -days);
  await server.createDatabase(database);
  await server.inDatabase(database, async (client) => {
    // Building an index at the end takes a fraction of keeping it up row by row.
    const { rows: indexes } = await client.query(
      `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
       WHERE schemaname = 'conciliation' AND tablename = 'title' AND indexname <> 'title_pkey'`,
    );
    for (const { name } of indexes) await client.query(`DROP INDEX conciliation.${name}`);
    await client.query(INSERT_PULLS, [startDate, days]);
    await client.query(INSERT_TITLES, [startDate, titles]);
    for (const { definition } of indexes) await client.query(definition);
    await client.query(INSERT_DAYS);
    await client.query(INSERT_CHECKPOINT, [startDate, until]);
    await client.query('VACUUM (ANALYZE)');
  });
}

const INSERT_PULLS = `
  INSERT INTO conciliation.pull
    (origin, date, state, attempts, fence, requested_by, finished_at)
  SELECT 'daily', $1::date + day, 'merged', 1,
         nextval('conciliation.pull_fence_seq'), 'bench', now()
  FROM generate_series(0, $2::int - 1) AS day`;

const INSERT_TITLES = `
  INSERT INTO conciliation.title
    (order_uid, occurrence, accepted_date, anticipated_due_date, buyer_identification,
     provider_external_id, provider_identification, provider_bank, provider_agency,
     provider_account, provider_account_digit, financial_agent_type,
     financial_agent_identification, financial_agent_name, buyer_is_financial, payment_type,
     payment_bank, payment_agency, payment_account, payment_account_digit, original_value,
     platform_discounted_value, financial_discounted_value, buyer_discounted_value, billing_fee,
     money_transfer_fee, platform_commission, identity_hash, content_hash, raw_hash,
     first_pull_id, last_change_pull_id)
  SELECT gen_random_uuid()::text, 1, pull.date, pull.date + 60, '00000000000000',
         'F' || lpad((number % 384)::text, 6, '0'), '00000000000000', '001', '1234',
         '1234567', '0', 'INDIVIDUAL', '00000000000000', 'Fomento Mercantil', false,
         'BANK_TRANSFER', '341', '4321', '7654321', '1', number % 100000 + 0.25,
         number % 1000 + 0.5, number % 500 + 0.75, number % 100 + 0.1, 1.5, 4.35, '0.5',
         gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
         pull.id, pull.id
  FROM generate_series(0, $2::int - 1) AS number
  JOIN conciliation.pull ON pull.date = $1::date + number / ${TITLES_PER_DAY}`;

const INSERT_DAYS = `
  INSERT INTO conciliation.day (date, state, title_count, last_pull_id, verified_at, changed_at)
  SELECT accepted_date, 'reconciled', count(*), max(first_pull_id), now(), now()
  FROM conciliation.title GROUP BY accepted_date`;

const INSERT_CHECKPOINT = `
  INSERT INTO conciliation.checkpoint (id, start_date, last_reconciled_date)
  VALUES (1, $1::date, $2::date - 1)`;
