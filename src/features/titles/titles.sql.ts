import { type Static, Type } from 'typebox';
import type { Database, QueryClient } from '../../base/database/database.ts';
import { parseAmount } from '../../base/texts/texts.ts';
import { toCivilDate } from '../../base/values/business-day.ts';
import { MAX_KEY_CHARACTERS } from '../../base/values/field-fault.ts';
import { readTaxIds } from '../../base/values/tax-id.ts';
import {
  amount,
  ChangedField,
  date,
  dateOrNull,
  id,
  instant,
  orNull,
  words,
} from '../../console/api/schema-parts.ts';
import {
  amountField,
  anyOf,
  asHidden,
  dateField,
  type FilterOf,
  searchField,
  textField,
} from '../../console/list/filter.tsx';
import type { ListTotal, Place } from '../../console/list/list.tsx';
import { bareTaxId, folded, inEachCase } from '../../console/shell/search.sql.ts';
import type { PullOrigin } from '../../core/ledger/states.ts';
import { TITLE_COLUMNS, type TitleColumn } from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { OPEN_HOLDS } from '../accounts/payment-holds.sql.ts';
import { businessDayOf } from '../calendar/business-days.sql.ts';
import { hasPromotedValue, PROMOTED_VALUES, PromotedValue } from '../fields/promoted-fields.sql.ts';
import { differingFields } from '../review/changed-titles.sql.ts';
import {
  acceptedDatesOf,
  type GroupFilter,
  hasPayeeOf,
  readGroupTotals,
} from '../schedule/schedule.sql.ts';

const FIRST_DATE = toCivilDate('0001-01-01');
const LAST_DATE = toCivilDate('9999-12-31');

const TITLE_SORTS = ['accepted', 'order', 'value', 'due', 'provider', 'agent'] as const;
export type TitleSort = (typeof TITLE_SORTS)[number];

const STATUSES = ['current', 'withdrawn'] as const;

export const TITLE_FILTER = {
  search: searchField('titles.search'),
  from: dateField('titles.from'),
  to: dateField('titles.to'),
  /** The provider's identifier in the ERP, as it is. */
  providerId: asHidden(textField('titles.provider', MAX_KEY_CHARACTERS)),
  status: anyOf('titles.status', STATUSES, (status) => `title.status.${status}`),
  dueFrom: dateField('titles.dueFrom'),
  dueTo: dateField('titles.dueTo'),
  /** Only titles that state no due date. */
  undated: anyOf('titles.undated', ['true'], () => 'title.yes'),
  /** A title: only titles whose payment goes to the same party and account; see `Payee`. */
  payeeOf: asHidden<string | null>({
    ...textField('titles.payee'),
    expected: 'id',
    parse: (id) => (/^\d{1,15}$/.test(id) ? id : undefined),
  }),
  minValue: amountField('titles.minValue'),
  maxValue: amountField('titles.maxValue'),
  sort: asHidden(
    anyOf(
      'titles.sort',
      [...TITLE_SORTS, ...TITLE_SORTS.map((sort) => `-${sort}` as const)],
      () => 'titles.sort',
    ),
  ),
};

/** Selects titles. All conditions must hold; null: no condition. */
export type TitleFilter = FilterOf<typeof TITLE_FILTER>;

type Condition<Value> = (
  value: NonNullable<Value>,
  tx: QueryClient,
) => Prisma.Sql | Promise<Prisma.Sql>;

/** Every value is bound as a parameter. */
const CONDITIONS: {
  readonly [Name in Exclude<keyof TitleFilter, 'sort'>]: Condition<TitleFilter[Name]>;
} = {
  search: searchCondition,
  from: (date) => Prisma.sql`accepted_date >= ${date}::date`,
  to: (date) => Prisma.sql`accepted_date <= ${date}::date`,
  providerId: (id) => Prisma.sql`provider_external_id = ${id}`,
  status: (status) => Prisma.sql`status = ${status}`,
  dueFrom: (date) => Prisma.sql`anticipated_due_date >= ${date}::date`,
  dueTo: (date) => Prisma.sql`anticipated_due_date <= ${date}::date`,
  undated: () => Prisma.sql`anticipated_due_date IS NULL`,
  payeeOf: (id, tx) => hasPayeeOf(tx, Number(id)),
  minValue: ({ decimal }) => Prisma.sql`original_value >= ${decimal}::numeric`,
  maxValue: ({ decimal }) => Prisma.sql`original_value <= ${decimal}::numeric`,
};

export async function whereOf(tx: QueryClient, filter: TitleFilter): Promise<Prisma.Sql> {
  const due = dueOf(filter);
  const stated = Object.entries(CONDITIONS).flatMap(([name, condition]) => {
    const value = filter[name as keyof TitleFilter];
    return value === null ? [] : [(condition as Condition<unknown>)(value, tx)];
  });
  return Prisma.join(
    [
      // `title` has no index by due date, which every merge would pay for. The schedule knows the accepted dates.
      due === null ? Prisma.sql`true` : Prisma.sql`accepted_date = ANY(${acceptedDatesOf(due)})`,
      ...(await Promise.all(stated)),
    ],
    ' AND ',
  );
}

/** Returns the due dates and the payee that the filter asks for; null: it does not ask for current titles by due date. */
function dueOf(filter: TitleFilter): GroupFilter | null {
  const { status, dueFrom, dueTo, undated, payeeOf } = filter;
  if (status !== 'current') return null;
  const payee = payeeOf === null ? null : Number(payeeOf);
  if (dueFrom === null && dueTo === null)
    return undated === null ? null : { range: null, payeeOf: payee };
  const range = { from: dueFrom ?? FIRST_DATE, to: dueTo ?? LAST_DATE };
  return undated === null ? { range, payeeOf: payee } : null;
}

/** Returns the group of the payment schedule that the filter selects; null: the filter has other conditions. */
function groupOf(filter: TitleFilter): GroupFilter | null {
  const group = ['status', 'dueFrom', 'dueTo', 'undated', 'payeeOf'];
  return Object.keys(CONDITIONS).every(
    (name) => group.includes(name) || filter[name as keyof TitleFilter] === null,
  )
    ? dueOf(filter)
    : null;
}

/**
 * The one search box: an order, a provider's code, a name, a promoted field, a value, a tax identifier, or the key or
 * the document of the matched payable, as a person writes them.
 */
async function searchCondition(written: string, tx: QueryClient): Promise<Prisma.Sql> {
  const values = (['pt-BR', 'en'] as const).map((language) => parseAmount(written, language));
  const taxIds = readTaxIds(written);
  const parts = [
    await orderCondition(written.replace(/\s/g, ''), tx),
    providerCondition(written),
    agentCondition(written),
    await hasPromotedValue(tx, written),
    payableCondition(written),
    Prisma.sql`original_value = ANY(${values.filter((value) => value !== null)}::numeric[])`,
    ...taxIds.map(({ digits }) => partyCondition(digits)),
  ];
  return Prisma.sql`(${Prisma.join(parts, ' OR ')})`;
}

/** Titles whose supplier, agent or buyer has the tax identifier, in any writing of the platform. */
function partyCondition(digits: string): Prisma.Sql {
  const columns = [
    'provider_identification',
    'financial_agent_identification',
    'buyer_identification',
  ].map((column) => Prisma.sql`${bareTaxId(Prisma.raw(column))} = ltrim(${digits}, '0')`);
  return Prisma.sql`(${Prisma.join(columns, ' OR ')} OR provider_external_id IN (
    SELECT external_id FROM conciliation.provider WHERE tax_id = ${digits}))`;
}

/** Titles whose payable the ERP calls so. */
const payableCondition = (name: string): Prisma.Sql => Prisma.sql`id IN (
  SELECT title_id FROM conciliation.title_match JOIN conciliation.erp_payable AS payable USING (erp_key)
  WHERE ended_at IS NULL AND (erp_key = ANY(${inEachCase(name)}::text[]) OR document = ANY(${inEachCase(name)}::text[])))`;

function providerCondition(provider: string): Prisma.Sql {
  return Prisma.sql`provider_external_id IN (
    SELECT unnest(${inEachCase(provider)}::text[])
    UNION
    SELECT external_id FROM conciliation.provider
    WHERE strpos(${folded(Prisma.sql`name`)}, ${folded(Prisma.sql`${provider}::text`)}) > 0)`;
}

/** All but the letters and digits that `folded` leaves as they are, regardless of case. */
const FOLDS = /[^bdfghjklmp-tv-z\d ]/giu;

/**
 * A part of the agent's name. To fold a name takes longer than to read its title, so the names are compared first without
 * the letters that fold. Not LIKE alone, because the text may hold pattern characters.
 */
function agentCondition(agent: string): Prisma.Sql {
  const pattern = `%${agent.replace(FOLDS, '_')}%`;
  return Prisma.sql`(financial_agent_name ILIKE ${pattern}
    AND strpos(${folded(Prisma.sql`financial_agent_name`)}, ${folded(Prisma.sql`${agent}::text`)}) > 0)`;
}

/** An identifier has an index. A part of one is searched in every title. */
async function orderCondition(order: string, tx: QueryClient): Promise<Prisma.Sql> {
  const whole = Prisma.sql`order_uid = ANY (${inEachCase(order)}::text[])`;
  const [{ isKnown }] = await tx.$queryRaw<[{ isKnown: boolean }]>`
    SELECT EXISTS (SELECT FROM conciliation.title WHERE ${whole}) AS "isKnown"`;
  return isKnown ? whole : Prisma.sql`strpos(lower(order_uid), lower(${order}::text)) > 0`;
}

export const TitleRow = Type.Object({
  id,
  status: words(['current', 'withdrawn']),
  acceptedDate: date,
  orderUid: Type.String(),
  occurrence: id,
  provider: orNull('string'),
  agent: orNull('string'),
  dueDate: dateOrNull,
  businessDay: dateOrNull,
  promoted: Type.Array(PromotedValue),
  originalValue: amount,
  changedAt: instant,
});
export type TitleRow = Readonly<Static<typeof TitleRow>>;

/** What follows each key makes the order complete. */
const KEYS: Readonly<Record<TitleSort, readonly Prisma.Sql[]>> = {
  // The order of the index title_identity_key, so that a page is an index lookup.
  accepted: [Prisma.sql`accepted_date`, Prisma.sql`identity_hash`, Prisma.sql`occurrence`],
  order: [Prisma.sql`order_uid COLLATE "C"`, Prisma.sql`id`],
  value: [Prisma.sql`original_value`, Prisma.sql`id`],
  due: [Prisma.sql`coalesce(anticipated_due_date, 'infinity')`, Prisma.sql`id`],
  provider: [Prisma.sql`coalesce(provider_external_id, '') COLLATE "C"`, Prisma.sql`id`],
  agent: [Prisma.sql`coalesce(financial_agent_name, '') COLLATE "C"`, Prisma.sql`id`],
};

/** The order of a list: that of the filter; otherwise the titles of one date by order, or the newest dates first. */
export const titleOrder = ({ sort, from, to }: TitleFilter): TitleSort | `-${TitleSort}` =>
  sort ?? (from !== null && from === to ? 'order' : '-accepted');

export async function readTitles(
  tx: QueryClient,
  filter: TitleFilter,
  { offset, limit }: Place,
): Promise<TitleRow[]> {
  const order = titleOrder(filter);
  const direction = order.startsWith('-') ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const keys = KEYS[order.replace('-', '') as TitleSort];
  return tx.$queryRaw<TitleRow[]>`
    SELECT id::float8 AS id, status, accepted_date::text AS "acceptedDate",
           order_uid AS "orderUid", occurrence, provider_external_id AS provider,
           financial_agent_name AS agent, anticipated_due_date::text AS "dueDate",
           ${businessDayOf(Prisma.sql`anticipated_due_date`)}::text AS "businessDay",
           ${PROMOTED_VALUES} AS promoted, original_value::text AS "originalValue", changed_at AS "changedAt"
    FROM conciliation.title WHERE ${await whereOf(tx, filter)}
    ORDER BY ${Prisma.join(keys.map((key) => Prisma.sql`${key} ${direction}`))}
    LIMIT ${limit} OFFSET ${offset}`;
}

/** Returns the number of selected titles, and the sum of the current ones. For whole days the values come from the ledger. */
export async function countTitles(tx: QueryClient, filter: TitleFilter): Promise<ListTotal> {
  const { titles, originalValueSum } = await readTitleTotals(tx, filter);
  return { rows: titles, sums: { original_value: originalValueSum } };
}

export async function readTitleTotals(tx: QueryClient, filter: TitleFilter) {
  const group = groupOf(filter);
  if (group !== null) return readGroupTotals(tx, group);
  const { from, to, sort: _, ...narrowing } = filter;
  const areWholeDays = Object.values(narrowing).every((value) => value === null);
  const [row] = await tx.$queryRaw<[{ titles: number; originalValueSum: string }]>(
    areWholeDays
      ? // A row of a date that has not begun is a mistake, and has no titles.
        Prisma.sql`
        SELECT coalesce(sum(title_count + withdrawn_count), 0)::float8 AS titles,
               coalesce(sum(original_value_sum), 0)::text AS "originalValueSum"
        FROM conciliation.day
        WHERE date >= coalesce(${from}::date, '-infinity')
          AND date <= least(${to}::date, (SELECT max(accepted_date) FROM conciliation.title))`
      : Prisma.sql`
        SELECT count(*)::float8 AS titles,
               coalesce(sum(original_value) FILTER (WHERE status = 'current'), 0)::text AS "originalValueSum"
        FROM conciliation.title WHERE ${await whereOf(tx, filter)}`,
  );
  return row;
}

/** A title of the same order, buyer and provider with another due date or value. */
const relatedTitle = (description: string) => Type.Union([id, Type.Null()], { description });

const Revision = Type.Object({
  revision: id,
  kind: words(['changed', 'withdrawn', 'restored']),
  changedAt: instant,
  pullId: id,
  fields: Type.Array(ChangedField),
});

/** Values are text as PostgreSQL writes it: exact amounts, `YYYY-MM-DD`. */
export const Title = Type.Object({
  id,
  status: words(['current', 'withdrawn']),
  acceptedDate: date,
  occurrence: id,
  fields: Type.Object(
    Object.fromEntries(TITLE_COLUMNS.map((column) => [column, orNull('string')])) as Record<
      TitleColumn,
      ReturnType<typeof orNull<'string'>>
    >,
    { description: 'Tax identifiers, accounts and undocumented fields are masked.' },
  ),
  promoted: Type.Array(PromotedValue),
  businessDay: dateOrNull,
  predecessor: relatedTitle(
    'The withdrawn title of the same order, buyer and provider that this one replaces.',
  ),
  successor: relatedTitle('The newest title that replaced this one.'),
  isPaymentHeld: Type.Boolean({
    description: 'The title names a changed bank account that no person has confirmed.',
  }),
  createdAt: instant,
  changedAt: instant,
  revisions: Type.Array(Revision),
});

/** What the page says of a revision besides: who asked for its pull. */
interface RevisionOfPull extends Readonly<Omit<Static<typeof Revision>, 'kind'>> {
  /** inserted: the first response that had the title. */
  readonly kind: Static<typeof Revision>['kind'] | 'inserted';
  readonly origin: PullOrigin;
  readonly requestedBy: string;
}

export interface TitleDetail extends Readonly<Omit<Static<typeof Title>, 'revisions'>> {
  /** Newest first. */
  readonly revisions: readonly RevisionOfPull[];
}

const fields = Prisma.raw(
  `jsonb_build_object(${TITLE_COLUMNS.map((name) => `'${name}', title.${name}::text`).join(', ')})`,
);

/** Returns null for an unknown title. */
export async function readTitleDetail(database: Database, id: bigint): Promise<TitleDetail | null> {
  const [title] = await database.prisma.$queryRaw<[Omit<TitleDetail, 'revisions'>?]>`
    SELECT title.id::float8 AS id, title.status, accepted_date::text AS "acceptedDate", occurrence,
           ${businessDayOf(Prisma.sql`title.anticipated_due_date`)}::text AS "businessDay",
           ${fields} AS fields, ${PROMOTED_VALUES} AS promoted,
           EXISTS (SELECT FROM (${OPEN_HOLDS}) AS held WHERE held.title_id = title.id) AS "isPaymentHeld",
           (SELECT predecessor_id FROM conciliation.title_succession WHERE title_id = title.id)::float8 AS predecessor,
           (SELECT title_id FROM conciliation.title_succession WHERE predecessor_id = title.id
            ORDER BY pull_id DESC LIMIT 1)::float8 AS successor,
           title.created_at AS "createdAt", title.changed_at AS "changedAt"
    FROM conciliation.title WHERE title.id = ${id}`;
  if (title === undefined) return null;
  const revisions = await database.prisma.$queryRaw<RevisionOfPull[]>`
    SELECT revision, kind, at AS "changedAt", pull_id::float8 AS "pullId", pull.origin,
           pull.requested_by AS "requestedBy", fields
    FROM (
      SELECT revision, revision.kind, revision.changed_at, pull_id, ${differingFields(
        Prisma.sql`revision.before`,
        Prisma.sql`revision.after`,
        Prisma.sql`title.accepted_date`,
        Prisma.sql`::text`,
      )}
      FROM conciliation.title_revision AS revision JOIN conciliation.title ON title.id = title_id WHERE title_id = ${id}
      UNION ALL
      SELECT 0, 'inserted', created_at, first_pull_id, '[]' FROM conciliation.title WHERE id = ${id}
    ) AS history (revision, kind, at, pull_id, fields)
    LEFT JOIN conciliation.pull ON pull.id = pull_id ORDER BY revision DESC`;
  return { ...title, revisions };
}
