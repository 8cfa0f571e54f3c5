import type pg from 'pg';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import { titleText } from './titles.ts';

/** Titles of every kind: repeated, restated writing, rejected, with undocumented fields. */
export const mixedTexts = (date: CivilDate) => [
  ...Array.from({ length: 50 }, (_, index) => titleText({ date, uid: `t${index % 40}` })),
  titleText({ date, uid: 'same', discount: '1' }),
  titleText({ date, uid: 'same', discount: '2' }),
  titleText({ date, uid: 'exact', value: '12345678901234567890.123456789' }),
  titleText({ date, uid: 'quotes', name: 'Ação "S/A", \\ 1\n2' }),
  titleText({ date, uid: 'new', more: ',"news":{"a":[1,1.50]}' }),
  '{"order":{}}',
];

/** All that a pull leaves behind of a date, but for what counts up from pull to pull, and hashes of dates. */
export async function outcomeOf(pool: pg.Pool, date: CivilDate) {
  const { rows: titles } = await pool.query(
    `SELECT to_jsonb(title) - '{id,first_pull_id,last_change_pull_id,created_at,changed_at,accepted_date,identity_hash,content_hash,raw_hash,occurrence}'::text[] AS content
     FROM conciliation.title WHERE accepted_date = $1 ORDER BY 1`,
    [date],
  );
  const { rows: occurrences } = await pool.query(
    `SELECT order_uid, array_agg(occurrence ORDER BY occurrence) AS occurrences
     FROM conciliation.title WHERE accepted_date = $1 GROUP BY order_uid ORDER BY order_uid`,
    [date],
  );
  const { rows: day } = await pool.query(
    `SELECT to_jsonb(day) - '{date,content_digest,fold_sum,last_pull_id,verified_at,changed_at}'::text[] AS day
     FROM conciliation.day WHERE date = $1`,
    [date],
  );
  const { rows: rejects } = await pool.query(
    'SELECT ordinal, reasons, raw, status FROM conciliation.rejected_title WHERE date = $1',
    [date],
  );
  return { titles, occurrences, day, rejects };
}
