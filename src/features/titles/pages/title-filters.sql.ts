import type { Database } from '../../../base/database/database.ts';
import type { Language, TextKey } from '../../../base/texts/texts.ts';
import { type CivilDate, parseCivilDate } from '../../../base/values/business-day.ts';
import { parseDecimal } from '../../../base/values/decimal.ts';
import { readTaxIds } from '../../../base/values/tax-id.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { bareTaxId, folded, inEachCase } from '../../../console/shell/search.sql.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { hasPayeeOf } from '../../schedule/read-schedule.sql.ts';

/** A condition on the titles of a list: its parameter, its field in the form, and its SQL. */
interface Filter<T> {
  readonly label: TextKey;
  readonly input: 'search' | 'text' | 'date' | 'status' | 'flag' | 'hidden';
  /** Returns null for text that cannot be read. */
  read(text: string, language: Language): T | null;
  where(value: T, database: Database): Prisma.Sql | Promise<Prisma.Sql>;
}

const filter = <T>(
  label: TextKey,
  input: Filter<T>['input'],
  read: Filter<T>['read'],
  where: Filter<T>['where'],
): Filter<T> => ({ label, input, read, where });

const text = (written: string) => (written.length <= 200 ? written : null);
const bound = (column: string, operator: '>=' | '<=', type: 'date' | 'numeric') => {
  const compared = Prisma.raw(`${column} ${operator} `);
  return <T extends string>(value: T) => Prisma.sql`${compared} ${value}::${Prisma.raw(type)}`;
};

/** The filters in the order of the form. Every value is bound as a parameter. */
export const FILTERS = {
  search: filter('titles.search', 'search', text, searchCondition),
  from: filter('titles.from', 'date', parseCivilDate, bound('accepted_date', '>=', 'date')),
  to: filter('titles.to', 'date', parseCivilDate, bound('accepted_date', '<=', 'date')),
  /** The order's identifier, or a part of one where no order has it. */
  order: filter('titles.orderFilter', 'text', text, orderCondition),
  /** The provider's identifier in the ERP, or a part of the provider's name. */
  provider: filter('titles.providerFilter', 'text', text, providerCondition),
  /** The provider's identifier in the ERP, as it is. */
  providerId: filter(
    'titles.provider',
    'hidden',
    text,
    (id) => Prisma.sql`provider_external_id = ${id}`,
  ),
  agent: filter('titles.agent', 'text', text, agentCondition),
  status: filter(
    'titles.status',
    'status',
    (status) => (status === 'current' || status === 'withdrawn' ? status : null),
    (status) => Prisma.sql`status = ${status}`,
  ),
  dueFrom: filter(
    'titles.dueFrom',
    'date',
    parseCivilDate,
    bound('anticipated_due_date', '>=', 'date'),
  ),
  dueTo: filter(
    'titles.dueTo',
    'date',
    parseCivilDate,
    bound('anticipated_due_date', '<=', 'date'),
  ),
  /** Only titles that state no due date. */
  undated: filter(
    'titles.undated',
    'flag',
    (flag) => (flag === 'true' ? true : null),
    () => Prisma.sql`anticipated_due_date IS NULL`,
  ),
  /** A title: only titles whose payment goes to the same party and account; see `Payee`. */
  payeeOf: filter(
    'titles.payee',
    'hidden',
    (id) => (/^\d{1,15}$/.test(id) ? Number(id) : null),
    (id, database) => hasPayeeOf(database, id),
  ),
  minValue: filter(
    'titles.minValue',
    'text',
    parseAmount,
    bound('original_value', '>=', 'numeric'),
  ),
  maxValue: filter(
    'titles.maxValue',
    'text',
    parseAmount,
    bound('original_value', '<=', 'numeric'),
  ),
};

export type FilterName = keyof typeof FILTERS;
export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

/** Selects titles. All conditions must hold; null: no condition. Amounts are decimal text. */
export type TitleFilter = {
  readonly [Name in FilterName]: (typeof FILTERS)[Name] extends Filter<infer T> ? T | null : never;
};

/**
 * Parses the parameters of a list.
 * @param day the one day whose titles are listed; null: the range of dates is a parameter too, and may be open
 * @param language of the amounts in the parameters
 * @returns the filter, the parameters that it has, and the names of those that could not be read
 */
export function parseTitleFilter(source: unknown, day: CivilDate | null, language: Language) {
  const texts: Partial<Record<FilterName, string>> = {};
  const faults: FilterName[] = [];
  const read = (name: FilterName): unknown => {
    if (day !== null && (name === 'from' || name === 'to')) return day;
    const written = textParameter(source, name);
    if (written === null) return null;
    const value = FILTERS[name].read(written.trim(), language);
    if (value === null) faults.push(name);
    else texts[name] = written;
    return value;
  };
  const values = Object.fromEntries(FILTER_NAMES.map((name) => [name, read(name)]));
  return { filter: values as TitleFilter, texts, faults };
}

/** The conditions of the filter, without those that are null. */
export function conditionsOf(database: Database, values: TitleFilter): Promise<Prisma.Sql[]> {
  const stated = FILTER_NAMES.filter((name) => values[name] !== null);
  return Promise.all(
    stated.map(async (name) => (FILTERS[name] as Filter<unknown>).where(values[name], database)),
  );
}

/** Separators of thousands and decimals. */
const SEPARATORS: Readonly<Record<Language, readonly [string, string]>> = {
  en: [',', '.'],
  'pt-BR': ['.', ','],
};

/**
 * Parses an amount as a person writes it: `1.234,50` or `1.234` (one thousand two hundred thirty-four) in
 * Portuguese, `1,234.50` or `1,234` in English. Where the separators of thousands are not in their places,
 * the other language's notation counts: `1234.5` is the same in both.
 * @returns canonical decimal text; null: not an amount
 */
function parseAmount(written: string, language: Language): string | null {
  const plain = written.replace(/^R\$|\s/gi, '');
  const other = language === 'en' ? 'pt-BR' : 'en';
  for (const [group, point] of [SEPARATORS[language], SEPARATORS[other]]) {
    const pattern = new RegExp(
      `^\\d{1,3}(\\${group}\\d{3})*(\\${point}\\d+)?$|^\\d+(\\${point}\\d+)?$`,
    );
    if (!pattern.test(plain)) continue;
    return parseDecimal(plain.replaceAll(group, '').replace(point, '.'))?.canonical ?? null;
  }
  return null;
}

/** The one search box: an order, a provider's code, a name, a value or a tax identifier, as a person writes them. */
async function searchCondition(written: string, database: Database): Promise<Prisma.Sql> {
  const values = (['pt-BR', 'en'] as const).map((language) => parseAmount(written, language));
  const taxIds = readTaxIds(written);
  const parts = [
    await orderCondition(written.replace(/\s/g, ''), database),
    providerCondition(written),
    agentCondition(written),
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

function providerCondition(provider: string): Prisma.Sql {
  return Prisma.sql`provider_external_id IN (
    SELECT unnest(${inEachCase(provider)}::text[])
    UNION
    SELECT external_id FROM conciliation.provider
    WHERE strpos(${folded(Prisma.sql`name`)}, ${folded(Prisma.sql`${provider}::text`)}) > 0)`;
}

/** A part of the agent's name. Not LIKE, because the text may hold pattern characters. */
function agentCondition(agent: string): Prisma.Sql {
  return Prisma.sql`
    strpos(${folded(Prisma.sql`financial_agent_name`)}, ${folded(Prisma.sql`${agent}::text`)}) > 0`;
}

/** An identifier has an index. A part of one is searched in every title. */
async function orderCondition(order: string, database: Database): Promise<Prisma.Sql> {
  const whole = Prisma.sql`order_uid = ANY (${inEachCase(order)}::text[])`;
  const [{ isKnown }] = await database.prisma.$queryRaw<[{ isKnown: boolean }]>`
    SELECT EXISTS (SELECT FROM conciliation.title WHERE ${whole}) AS "isKnown"`;
  return isKnown ? whole : Prisma.sql`strpos(lower(order_uid), lower(${order}::text)) > 0`;
}
