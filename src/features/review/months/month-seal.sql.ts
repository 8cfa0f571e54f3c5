/**
 * A month seal covers the seals of all days of the month. Whether a month seal
 * still holds is not stored: each read derives the answer from the seals of the days.
 */

import { hash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { recordAudit } from '../../../base/audit/audit.ts';
import type { Database, QueryClient } from '../../../base/database/database.ts';
import { amountSum } from '../../../base/database/expressions.sql.ts';
import { listDates, refusal } from '../../../base/texts/texts.ts';
import { addDays, type CivilDate, toCivilDate } from '../../../base/values/business-day.ts';
import {
  amount,
  count,
  date,
  each,
  id,
  instant,
  orNull,
  words,
} from '../../../console/api/schema-parts.ts';
import type { DayState } from '../../../core/ledger/states.ts';
import { AMOUNT_COLUMNS } from '../../../core/title/title.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { OPEN_BREAKS } from '../../matching/break-list.sql.ts';
import { SEALED_MEASURES } from '../changed-titles.sql.ts';

/** A month of the calendar as `YYYY-MM`. Text order is month order. */
declare const civilMonth: unique symbol;
export type CivilMonth = string & { readonly [civilMonth]: true };

export const monthOf = (date: CivilDate) => date.slice(0, 7) as CivilMonth;

export function firstDateOf(month: CivilMonth): CivilDate {
  return toCivilDate(`${month}-01`);
}

export function lastDateOf(month: CivilMonth): CivilDate {
  // 31 days after the first of a month is a day of the next month.
  return addDays(toCivilDate(`${addDays(firstDateOf(month), 31).slice(0, 7)}-01`), -1);
}

/** The columns of `sign_off` that a month seal covers: all that never change. */
const SEAL_FIELDS = [
  'date',
  'id',
  'signed_off_at',
  'signed_off_by',
  'reason',
  'fence',
  'content_digest',
  'title_count',
  'withdrawn_count',
  'rejected_count',
  ...AMOUNT_COLUMNS.map((column) => `${column}_sum` as const),
] as const;

/** A seal of a day as text: instants in UTC with microseconds, amounts with every stored digit. */
export type SealRecord = Readonly<Record<(typeof SEAL_FIELDS)[number], string | null>>;

/**
 * Returns SHA-256 over the month and the seals of its days in date order, in hexadecimal. Each value is
 * preceded by its length in bytes, and a missing value is `-`, so values cannot run into each other. The
 * verifier of the evidence file computes the same.
 */
function monthDigest(month: CivilMonth, seals: readonly SealRecord[]): string {
  const values = seals.flatMap((seal) => SEAL_FIELDS.map((field) => seal[field]));
  const lines = ['month seal 1', month, ...values].map((value) =>
    value === null ? '-\n' : `${Buffer.byteLength(value)}:${value}\n`,
  );
  return hash('sha256', lines.join(''), 'hex');
}

/**
 * The cause that broke a month seal.
 * - `restated`: the platform restated the day
 * - `reopened`: a person reopened the day
 * - `sealed_again`: the day was signed off again
 * - `added`: an earlier start date added the day to the month
 */
const BREAK_CAUSES = ['restated', 'reopened', 'sealed_again', 'added'] as const;

export const BrokenDay = Type.Object({ date, cause: words(BREAK_CAUSES) });
export type BrokenDay = Readonly<Static<typeof BrokenDay>>;

export const month = Type.Unsafe<CivilMonth>({
  type: 'string',
  examples: ['2026-03'],
  pattern: '^(19|[2-8][0-9])[0-9]{2}-(0[1-9]|1[0-2])$',
});

export const MonthTotals = each(SEALED_MEASURES, amount, {
  description: 'Over the seals of the days.',
});
export type MonthTotals = Static<typeof MonthTotals>;

export const MonthSeal = Type.Object({
  id,
  month,
  sealedAt: instant,
  sealedBy: Type.String(),
  reason: orNull('string'),
  digest: Type.String({ description: 'SHA-256 over the month and the seals of its days.' }),
  days: count,
  totals: MonthTotals,
});
export type MonthSeal = Readonly<Static<typeof MonthSeal>>;

/**
 * - `ready`: all days are signed off, no day waits for a person, and no seal is valid
 */
const MONTH_STATES = ['open', 'ready', 'sealed', 'broken'] as const;
export type MonthState = (typeof MONTH_STATES)[number];

/** A month of the ledger. Its days are those that a seal has to cover: from the start date or the first of the month on. */
export const Month = Type.Object({
  month,
  from: date,
  to: date,
  days: count,
  signed: Type.Integer({
    minimum: 0,
    description: 'Signed off, not restated since, and reconciled.',
  }),
  restated: count,
  titles: count,
  originalValueSum: amount,
  breaks: Type.Integer({ minimum: 0, description: 'Open, after the newest run of the matching.' }),
  breaksValue: { ...amount, description: 'An exact decimal: the values without their signs.' },
  state: words(MONTH_STATES),
  seal: Type.Union([MonthSeal, Type.Null()], { description: 'The newest seal.' }),
  broken: Type.Array(BrokenDay, { description: 'The days that break the newest seal.' }),
});
export type Month = Readonly<Static<typeof Month>>;

function stateOf({ days, signed, seal, broken }: Omit<Month, 'state'>): MonthState {
  if (seal !== null && broken.length === 0) return 'sealed';
  if (signed === days) return 'ready';
  return seal === null ? 'open' : 'broken';
}

export interface MonthDay {
  readonly date: CivilDate;
  readonly state: DayState | null;
  readonly isRestated: boolean;
  readonly seal: SealRecord | null;
}

// The names are constants of this program. No input reaches Prisma.raw.

/** The columns of `sign_off AS seal` as a `SealRecord`. */
export const SEAL_RECORD = Prisma.raw(
  `jsonb_build_object(${SEAL_FIELDS.map((field) =>
    field === 'signed_off_at'
      ? `'${field}', to_char(seal.signed_off_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
      : `'${field}', seal.${field}::text`,
  ).join(', ')})`,
);

const measures = Prisma.raw(SEALED_MEASURES.join(', '));
const sums = Prisma.raw(SEALED_MEASURES.map((name) => `sum(${name})`).join(', '));
const totals = Prisma.raw(
  `jsonb_build_object(${SEALED_MEASURES.map((name) => `'${name}', ${name}::text`).join(', ')})`,
);

/** Of a row of `month_seal`. */
const sealColumns = Prisma.sql`
  id::float8 AS id, to_char(month, 'YYYY-MM') AS month, sealed_at AS "sealedAt",
  sealed_by AS "sealedBy", reason, digest, cardinality(sign_off_ids) AS days, ${totals} AS totals`;

/** The newest seal of each month. The earlier ones are kept and no longer count. */
const newest = Prisma.sql`
  SELECT DISTINCT ON (month) * FROM conciliation.month_seal ORDER BY month, id DESC`;

/** The days that break the seal `newest`, as an array of `BrokenDay`. */
const brokenDays = Prisma.sql`
  (SELECT coalesce(jsonb_agg(jsonb_build_object('date', date::text, 'cause', cause) ORDER BY date), '[]')
   FROM (
     SELECT old.date,
            CASE WHEN old.ended_at IS NULL THEN 'restated'
                 WHEN EXISTS (SELECT FROM conciliation.sign_off AS present
                              WHERE present.date = old.date AND present.ended_at IS NULL)
                 THEN 'sealed_again' ELSE 'reopened' END AS cause
     FROM conciliation.sign_off AS old JOIN conciliation.day ON day.date = old.date
     WHERE old.id = ANY(newest.sign_off_ids)
       AND (old.ended_at IS NOT NULL OR day.restated_after_sign_off)
     UNION ALL
     SELECT expected.at::date, 'added'
     FROM conciliation.checkpoint
     CROSS JOIN generate_series(greatest(newest.month, start_date)::timestamp,
                                newest.month + interval '1 month - 1 day', '1 day') AS expected (at)
     WHERE NOT EXISTS (SELECT FROM conciliation.sign_off AS old
                       WHERE old.id = ANY(newest.sign_off_ids) AND old.date = expected.at::date)
   ) AS broken)`;

/**
 * Returns the months from that of the start date to that of `today`, and every other sealed month, the
 * newest first. `only` selects one of them.
 */
export async function readMonths(
  client: QueryClient,
  today: CivilDate,
  only: CivilMonth | null = null,
): Promise<Month[]> {
  const rows = await client.$queryRaw<Omit<Month, 'state'>[]>`
    WITH newest AS MATERIALIZED (${newest}), known AS (
      SELECT at::date AS month FROM conciliation.checkpoint
      CROSS JOIN generate_series(date_trunc('month', start_date::timestamp),
                                 ${today}::timestamp, '1 month') AS begun (at)
      UNION SELECT month FROM newest
    ), bounded AS (
      SELECT month, (month + interval '1 month - 1 day')::date AS last,
             coalesce((SELECT greatest(month, start_date) FROM conciliation.checkpoint
                       WHERE start_date < month + interval '1 month'), month) AS first
      FROM known
    )
    SELECT to_char(month, 'YYYY-MM') AS month, first::text AS "from", last::text AS "to",
           last - first + 1 AS days, present.*, coalesce(broken.breaks, 0)::float8 AS breaks,
           coalesce(broken.value, 0)::text AS "breaksValue",
           (SELECT to_jsonb(stated) FROM (SELECT ${sealColumns} WHERE newest.id IS NOT NULL) AS stated) AS seal,
           CASE WHEN newest.id IS NULL THEN '[]' ELSE ${brokenDays} END AS broken
    FROM bounded LEFT JOIN newest USING (month)
    LEFT JOIN (
      SELECT date_trunc('month', accepted_date)::date AS month, count(*) AS breaks,
             ${amountSum(Prisma.sql`abs(value)`)} AS value
      FROM ${OPEN_BREAKS} AS counted GROUP BY 1
    ) AS broken USING (month)
    CROSS JOIN LATERAL (
      SELECT (count(*) FILTER (WHERE signed_off_at IS NOT NULL AND NOT restated_after_sign_off
                                 AND state = 'reconciled'))::int AS signed,
             (count(*) FILTER (WHERE restated_after_sign_off))::int AS restated,
             coalesce(sum(title_count), 0)::float8 AS titles,
             coalesce(sum(original_value_sum), 0)::text AS "originalValueSum"
      FROM conciliation.day WHERE date BETWEEN first AND last
    ) AS present
    WHERE ${only}::text IS NULL OR to_char(month, 'YYYY-MM') = ${only}::text
    ORDER BY bounded.month DESC`;
  return rows.map(({ seal, ...row }) => {
    // An instant inside of JSON is text.
    const known = { ...row, seal: seal && { ...seal, sealedAt: new Date(seal.sealedAt) } };
    return { ...known, state: stateOf(known) };
  });
}

/** Returns the days of a range, each with its present seal, in date order. */
export function readMonthDays(
  client: QueryClient,
  { from, to }: Pick<Month, 'from' | 'to'>,
): Promise<MonthDay[]> {
  return client.$queryRaw<MonthDay[]>`
    SELECT expected.at::date::text AS date, day.state,
           coalesce(day.restated_after_sign_off, false) AS "isRestated",
           CASE WHEN seal.id IS NOT NULL THEN ${SEAL_RECORD} END AS seal
    FROM generate_series(${from}::timestamp, ${to}::timestamp, '1 day') AS expected (at)
    LEFT JOIN conciliation.day ON day.date = expected.at::date
    LEFT JOIN conciliation.sign_off AS seal
      ON seal.date = expected.at::date AND seal.ended_at IS NULL
    ORDER BY expected.at`;
}

/**
 * What the ERP has of the titles of a day, or of several. A title is agreed, in doubt, or left. Values are sums of
 * original values, exact decimal text. Null: the matching has not run.
 */
export interface ErpStage {
  readonly titles: number;
  readonly value: string;
  /** Titles with a payable and no open break after the newest run of the matching. */
  readonly agreed: number | null;
  readonly agreedValue: string | null;
  /** Titles with an open break after that run. */
  readonly doubted: number;
  readonly doubtedValue: string;
  /** Titles without either: the ERP has no payable for them, and a person or a posting has ended the break. */
  readonly left: number | null;
  readonly leftValue: string | null;
  /** Withdrawn titles with an open break. They are in no other figure. */
  readonly withdrawn: number;
  readonly withdrawnValue: string;
  /** Bookings that stand. */
  readonly posted: number;
  /** What the ERP was to post for them, with the differences that a person has confirmed. */
  readonly postedValue: string;
}

export interface ErpStages {
  readonly days: ReadonlyMap<CivilDate | null, ErpStage>;
  readonly sum: ErpStage;
}

const IS_CURRENT = Prisma.sql`status = 'current'`;

/** Returns the stages of the days of a range that are in the ledger, and of all of them together. */
export async function readErpStages(
  { prisma }: Database,
  { from, to }: Pick<Month, 'from' | 'to'>,
): Promise<ErpStages> {
  const rows = await prisma.$queryRaw<(ErpStage & { date: CivilDate | null })[]>`
    WITH run AS (SELECT agreed FROM conciliation.match_run ORDER BY id DESC LIMIT 1), stage AS (
      SELECT day.date, coalesce(sum(title_count), 0) AS titles, coalesce(sum(original_value_sum), 0) AS value,
             CASE WHEN EXISTS (SELECT FROM run) THEN coalesce(sum(agreed.titles), 0) END AS agreed,
             CASE WHEN EXISTS (SELECT FROM run) THEN coalesce(sum(agreed.value), 0) END AS agreed_value,
             coalesce(sum(broken.titles), 0) AS doubted, coalesce(sum(broken.value), 0) AS doubted_value,
             coalesce(sum(broken.withdrawn), 0) AS withdrawn, coalesce(sum(broken.withdrawn_value), 0) AS withdrawn_value,
             coalesce(sum(posted.titles), 0) AS posted, coalesce(sum(posted.value), 0) AS posted_value
      FROM conciliation.day
      LEFT JOIN jsonb_to_recordset((SELECT agreed FROM run)) AS agreed (date date, titles bigint, value numeric)
        ON agreed.date = day.date
      LEFT JOIN (
        SELECT accepted_date AS date, count(*) FILTER (WHERE ${IS_CURRENT}) AS titles,
               ${amountSum(Prisma.sql`original_value`, IS_CURRENT)} AS value,
               count(*) FILTER (WHERE NOT ${IS_CURRENT}) AS withdrawn,
               ${amountSum(Prisma.sql`original_value`, Prisma.sql`NOT ${IS_CURRENT}`)} AS withdrawn_value
        FROM conciliation.title WHERE id = ANY(ARRAY(
          SELECT title_id FROM ${OPEN_BREAKS} AS broken WHERE accepted_date BETWEEN ${from}::date AND ${to}::date))
        GROUP BY 1
      ) AS broken ON broken.date = day.date
      LEFT JOIN (
        SELECT date, count(*) AS titles, ${amountSum(Prisma.sql`posting_value`)} AS value
        FROM conciliation.booking_version
        WHERE date BETWEEN ${from}::date AND ${to}::date AND stands AND version = posted_version GROUP BY 1
      ) AS posted ON posted.date = day.date
      WHERE day.date BETWEEN ${from}::date AND ${to}::date
      GROUP BY ROLLUP (day.date)
    )
    SELECT date::text, titles::float8, value::text, agreed::float8, agreed_value::text AS "agreedValue",
           doubted::float8, doubted_value::text AS "doubtedValue", withdrawn::float8,
           withdrawn_value::text AS "withdrawnValue", (titles - agreed - doubted)::float8 AS left,
           (value - agreed_value - doubted_value)::text AS "leftValue", posted::float8, posted_value::text AS "postedValue"
    FROM stage ORDER BY stage.date`;
  // The sum comes last, and also without a day.
  return {
    days: new Map(rows.map(({ date, ...stage }) => [date, stage])),
    sum: rows.at(-1) as ErpStage,
  };
}

/** Returns the digest that a seal over these days would have; null: a day cannot be covered. */
export const digestOfDays = (month: CivilMonth, days: readonly MonthDay[]): string | null =>
  blockersOf(days).length > 0 ? null : monthDigest(month, sealsOf(days));

const sealsOf = (days: readonly MonthDay[]) => days.flatMap(({ seal }) => seal ?? []);

/** Rows (month, days) of the months whose newest seal does not hold, with the days that break it. */
export const BROKEN_MONTHS = Prisma.sql`
  SELECT * FROM (
    SELECT to_char(month, 'YYYY-MM') AS month, ${brokenDays} AS days FROM (${newest}) AS newest
  ) AS looked WHERE days <> '[]' ORDER BY month`;

/**
 * Seals a month whose days are all signed off and reconciled. A new seal succeeds the one before, which is kept.
 * @returns the seal
 * @throws InputError when the month cannot be sealed
 */
export async function sealMonth(
  database: Database,
  month: CivilMonth,
  signing: {
    readonly by: string;
    readonly reason: string | null;
    /** The digest that the person saw; null: any. */
    readonly seenDigest: string | null;
  },
): Promise<MonthSeal> {
  return database.prisma.$transaction(async (tx) => {
    const checkpoint = await tx.checkpoint.findFirst({ select: { startDate: true } });
    const range = { from: firstDateOf(month), to: lastDateOf(month) };
    if (checkpoint === null || checkpoint.startDate > range.to) throw refusal('sealing_not_begun');
    if (checkpoint.startDate > range.from) range.from = checkpoint.startDate;
    // Merges, sign-offs and reopenings lock the day's row as well, so no seal of a day ends before the
    // commit. The order of the dates keeps two persons from waiting for each other.
    await tx.$queryRaw`
      SELECT FROM conciliation.day WHERE date BETWEEN ${range.from}::date AND ${range.to}::date
      ORDER BY date FOR UPDATE`;
    const days = await readMonthDays(tx, range);
    const [blocker] = blockersOf(days);
    if (blocker !== undefined) {
      const dates = listDates(
        blocker.days.map(({ date }) => date),
        'en',
      );
      throw refusal(`sealing_${blocker.fault}`, { dates });
    }
    const seals = sealsOf(days);
    const digest = monthDigest(month, seals);
    if (signing.seenDigest !== null && signing.seenDigest !== digest) {
      throw refusal('sealing_changed_meanwhile');
    }
    const [latest] = await tx.$queryRaw<[{ digest: string }?]>`
      SELECT digest FROM conciliation.month_seal WHERE month = ${firstDateOf(month)}::date
      ORDER BY id DESC LIMIT 1`;
    if (latest?.digest === digest) throw refusal('sealing_already_sealed');
    const signOffIds = seals.map(({ id }) => BigInt(id ?? 0));
    const [seal] = await tx.$queryRaw<[MonthSeal]>`
      INSERT INTO conciliation.month_seal (month, sealed_at, sealed_by, reason, sign_off_ids, digest, ${measures})
      -- Not the time of the begin: days may have been signed off while this transaction waited for the locks.
      SELECT ${firstDateOf(month)}::date, clock_timestamp(), ${signing.by}, ${signing.reason}, ${signOffIds}::bigint[],
             ${digest}, ${sums}
      FROM conciliation.sign_off WHERE id = ANY(${signOffIds}::bigint[])
      RETURNING ${sealColumns}`;
    await recordAudit(tx, {
      actor: signing.by,
      action: 'month.seal',
      reason: signing.reason,
      details: {
        month,
        monthSealId: seal.id,
        digest,
        days: days.length,
      },
    });
    return seal;
  });
}

/** The days that keep their month from being sealed, by the reason. */
export function blockersOf(
  days: readonly MonthDay[],
): { readonly fault: 'not_signed' | 'restated' | 'waiting'; readonly days: MonthDay[] }[] {
  const blockers = [
    { fault: 'not_signed', days: days.filter(({ seal }) => seal === null) },
    { fault: 'restated', days: days.filter(({ isRestated }) => isRestated) },
    {
      fault: 'waiting',
      // A day that no pull has completed yet is not signed either.
      days: days.filter(
        ({ state, seal }) =>
          state !== 'reconciled' && (seal !== null || (state !== null && state !== 'pending')),
      ),
    },
  ] as const;
  return blockers.filter((blocker) => blocker.days.length > 0);
}
