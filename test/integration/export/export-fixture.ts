import type { PullWorld } from '../../support/pull-world.ts';

/** Many titles of one date, quick to make, none like another. */
export const insertTitles = ({ database }: PullWorld, date: string, count: number) =>
  database.pool.query(
    `INSERT INTO conciliation.title
       (order_uid, occurrence, accepted_date, anticipated_due_date, buyer_identification,
        provider_external_id, provider_identification, provider_bank, provider_account,
        financial_agent_name, buyer_is_financial, payment_type, original_value,
        platform_discounted_value, billing_fee, identity_hash, content_hash, raw_hash,
        first_pull_id, last_change_pull_id)
     SELECT md5(n::text), 1, $1::date, $1::date + 30, '12345678000195', 'provider ' || n % 5000,
            lpad(n::text, 14, '0'), '341', lpad(n::text, 9, '0'), 'Agent of order ' || n, n % 2 = 0,
            'BANK_TRANSFER', n + 0.01, n + 0.005, 0.1, gen_random_uuid(), gen_random_uuid(),
            gen_random_uuid(), 1, 1
     FROM generate_series(1, $2::int) AS n`,
    [date, count],
  );
