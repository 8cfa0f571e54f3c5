/** Each check as a query over the current titles of a date. docs/checks.md gives the reason for each check. */
import {
  companyIdText,
  mayBeSameTaxId,
  taxIdOf,
  taxIdText,
} from '../../base/database/tax-id.sql.ts';
import { arrivalFence } from '../../base/database/title-arrival.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { CheckCode } from '../../base/values/checks.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** The data that a check needs besides the titles. */
interface CheckInput {
  readonly date: CivilDate;
}

/** The dates before that say which fees are usual. */
const FEE_DATES = 4;
/** Fewer titles of an agent on these dates make no fee usual. */
const MIN_FEE_TITLES = 20;
/** How many times a fee may exceed the greatest usual one, or fall below the smallest one. */
const FEE_FACTOR = 3;

// The names below are constants of this program. No input reaches Prisma.raw.
const FEE_COLUMNS = ['billing_fee', 'money_transfer_fee'] as const;
const raw = (name: string) => Prisma.raw(name);

const current = (date: CivilDate) =>
  Prisma.sql`title.accepted_date = ${date}::date AND title.status = 'current'`;

/** The titles of the date that fulfil a condition. */
const where = (
  date: CivilDate,
  condition: Prisma.Sql,
  detail: Prisma.Sql,
): Prisma.Sql => Prisma.sql`
  SELECT title.id AS title_id, title.content_hash, ${detail} AS detail
  FROM conciliation.title WHERE ${current(date)} AND (${condition})`;

/** The different texts of a column in the titles of the date, because a normal form for each title takes longer. */
const textsOf = (date: CivilDate, column: string) => Prisma.sql`
  SELECT DISTINCT title.${raw(column)} AS written FROM conciliation.title WHERE ${current(date)}`;

/** The texts of a date in place of a tax identifier from which no single one follows. */
const undecidedTexts = (date: CivilDate, column: string) => Prisma.sql`
  (SELECT written FROM (${textsOf(date, column)}) AS stated
   WHERE NOT conciliation.has_check_digits(${taxIdOf('written')}))`;

/**
 * Rows (title_id, content_hash, detail) of the titles with the fault. Null: the check has nothing to compare.
 * A title may have several rows; the first one in the order of `detail` counts.
 */
export const FAULT_QUERIES: Readonly<Record<CheckCode, (input: CheckInput) => Prisma.Sql | null>> =
  {
    due_before_acceptance: ({ date }) =>
      where(
        date,
        Prisma.sql`title.anticipated_due_date < title.accepted_date`,
        Prisma.sql`jsonb_build_object('field', 'anticipatedDueDate', 'value', title.anticipated_due_date,
                                    'limit', title.accepted_date)`,
      ),
    value_not_positive: ({ date }) =>
      where(
        date,
        Prisma.sql`title.original_value <= 0`,
        Prisma.sql`jsonb_build_object('field', 'originalValue', 'value', title.original_value::text)`,
      ),
    fee_unusual: ({ date }) => Prisma.sql`
    SELECT title.id AS title_id, title.content_hash,
           jsonb_build_object('field', fee.field, 'value', fee.value::text,
                              'least', usual.least::text, 'most', usual.most::text) AS detail
    FROM conciliation.title
    CROSS JOIN LATERAL (VALUES ${feeValues}) AS fee (field, value)
    JOIN (
      SELECT written, usual.*
      FROM (${textsOf(date, 'financial_agent_identification')}) AS named
      JOIN (
        SELECT ${taxIdOf('written')} AS agent, field, min(least) AS least, max(most) AS most
        FROM (
          SELECT title.financial_agent_identification AS written, fee.field, count(*) AS titles,
                 min(fee.value) AS least, max(fee.value) AS most
          FROM conciliation.title CROSS JOIN LATERAL (VALUES ${feeValues}) AS fee (field, value)
          WHERE title.status = 'current' AND title.accepted_date = ANY(ARRAY(
                  SELECT day.date FROM conciliation.day
                  WHERE day.date < ${date}::date AND day.title_count > 0
                  ORDER BY day.date DESC LIMIT ${FEE_DATES}::int))
            AND fee.value IS NOT NULL
          GROUP BY 1, 2
        ) AS earlier
        GROUP BY 1, 2 HAVING sum(titles) >= ${MIN_FEE_TITLES}::int
      ) AS usual ON usual.agent = ${taxIdOf('named.written')}
    ) AS usual ON usual.written = title.financial_agent_identification AND usual.field = fee.field
    WHERE ${current(date)}
      AND (fee.value > usual.most * ${FEE_FACTOR}::int OR fee.value * ${FEE_FACTOR}::int < usual.least)`,
    tax_id_invalid: ({ date }) =>
      where(
        date,
        Prisma.sql`title.erased_at IS NULL
        AND (title.provider_identification IN ${undecidedTexts(date, 'provider_identification')}
        OR title.financial_agent_identification IN ${undecidedTexts(date, 'financial_agent_identification')})`,
        Prisma.sql`jsonb_build_object('field',
          CASE WHEN title.provider_identification IN ${undecidedTexts(date, 'provider_identification')}
          THEN 'provider.identification' ELSE 'financialAgent.identificationNumber' END)`,
      ),
    agent_is_provider: ({ date }) =>
      where(
        date,
        Prisma.sql`title.erased_at IS NULL
        AND ${mayBeSameTaxId('title.provider_identification', 'title.financial_agent_identification')}`,
        Prisma.sql`'{}'::jsonb`,
      ),
    equal_in_day: ({ date }) =>
      where(
        date,
        Prisma.sql`title.content_hash IN (
        SELECT content_hash FROM conciliation.title WHERE ${current(date)}
        GROUP BY content_hash HAVING count(*) > 1)`,
        Prisma.sql`'{}'::jsonb`,
      ),
    // With other due dates, both may be instalments of the order. They are, once a response for the date of the
    // earlier one that was requested after the later one had come still has the earlier one. Until then the title may
    // have moved.
    equal_on_two_dates: ({ date }) => Prisma.sql`
    SELECT title_id, content_hash,
           jsonb_build_object('otherDate', other_date, 'otherTitle', other_id::text)
           || CASE WHEN is_due_alike THEN '{}' ELSE
                jsonb_build_object('awaitedDate', awaited.date, 'afterFence', greatest(came, other_came)::text)
              END AS detail
    FROM (
      SELECT title.id AS title_id, title.content_hash, title.accepted_date AS date,
             other.id AS other_id, other.accepted_date AS other_date,
             other.anticipated_due_date IS NOT DISTINCT FROM title.anticipated_due_date AS is_due_alike,
             ${arrivalFence('title')} AS came, ${arrivalFence('other')} AS other_came
      FROM conciliation.title
      JOIN conciliation.title AS other ON ${isSameReceivable}
      WHERE ${current(date)} AND other.status = 'current' AND other.accepted_date <> ${date}::date
        AND other.order_uid = ANY(ARRAY(
          SELECT DISTINCT title.order_uid FROM conciliation.title WHERE ${current(date)}))
    ) AS pair
    CROSS JOIN LATERAL (
      SELECT CASE WHEN came < other_came THEN pair.date ELSE other_date END AS date
    ) AS awaited
    WHERE is_due_alike OR NOT EXISTS (
      SELECT FROM conciliation.day JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
      WHERE day.date = awaited.date AND merged.fence > greatest(came, other_came))`,
    unit_jump: ({ date }) => Prisma.sql`
    WITH restated AS (
      SELECT title.* FROM conciliation.title
      WHERE ${current(date)} AND title.last_change_pull_id <> title.first_pull_id
        -- Of titles with equal identities, which one was restated is a matter of their order.
        AND title.identity_hash NOT IN (
          SELECT identity_hash FROM conciliation.title WHERE accepted_date = ${date}::date
          GROUP BY identity_hash HAVING count(*) > 1)
    ), newest AS (
      -- Of each amount by itself: a later change of another field does not hide the jump.
      SELECT DISTINCT ON (title_id, name) title_id, name, amount.before::numeric AS before
      FROM conciliation.title_revision AS revision
      CROSS JOIN LATERAL jsonb_each_text(revision.before) AS amount (name, before)
      WHERE title_id = ANY(ARRAY(SELECT id FROM restated)) AND name = ANY(${[...AMOUNT_COLUMNS]}::text[])
      ORDER BY title_id, name, revision.revision DESC
    ), jump AS (
      SELECT restated.id, restated.content_hash, amount.field, newest.before, amount.value
      FROM restated JOIN newest ON newest.title_id = restated.id
      CROSS JOIN LATERAL (VALUES ${restatedAmounts}) AS amount (name, field, value)
      WHERE amount.name = newest.name
      UNION ALL
      SELECT title.id, title.content_hash, 'originalValue', predecessor.original_value, title.original_value
      FROM conciliation.title
      JOIN conciliation.title_succession AS link ON link.title_id = title.id
      JOIN conciliation.title AS predecessor ON predecessor.id = link.predecessor_id
      WHERE ${current(date)} AND link.accepted_date = ${date}::date AND predecessor.accepted_date = ${date}::date
    )
    SELECT id AS title_id, content_hash,
           jsonb_build_object('field', field, 'before', before::text, 'value', value::text) AS detail
    FROM jump
    WHERE before <> 0 AND (value = before * 100 OR value * 100 = before)`,
  };

const FIELD_NAMES: Readonly<Record<(typeof AMOUNT_COLUMNS)[number], string>> = {
  original_value: 'originalValue',
  platform_discounted_value: 'platformDiscountedValue',
  financial_discounted_value: 'financialDiscountedValue',
  buyer_discounted_value: 'buyerDiscountedValue',
  billing_fee: 'billingFee',
  money_transfer_fee: 'moneyTransferFee',
};

const feeValues = raw(
  FEE_COLUMNS.map((column) => `('${FIELD_NAMES[column]}', title.${column})`).join(', '),
);

const restatedAmounts = raw(
  AMOUNT_COLUMNS.map(
    (column) => `('${column}', '${FIELD_NAMES[column]}', restated.${column})`,
  ).join(', '),
);

const sameText = (value: (alias: string) => string) =>
  `${value('other')} IS NOT DISTINCT FROM ${value('title')}`;

/** The same order, buyer, provider and value, in any writing of a tax identifier. */
const isSameReceivable = raw(
  [
    'other.order_uid = title.order_uid',
    'other.original_value = title.original_value',
    sameText((alias) => companyIdText(`${alias}.buyer_identification`)),
    // The provider is named by the ERP's code, by the tax identifier, or not at all.
    `(btrim(other.provider_external_id) = btrim(title.provider_external_id)
      OR ${taxIdText('other.provider_identification')} = ${taxIdText('title.provider_identification')}
      OR ${['other', 'title']
        .map(
          (alias) =>
            `coalesce(btrim(${alias}.provider_external_id), ${taxIdText(`${alias}.provider_identification`)}, '') = ''`,
        )
        .join(' AND ')})`,
  ].join(' AND '),
);
