import { expect } from 'vitest';
import type { Database } from '../../src/base/database/database.ts';
import { readFilter } from '../../src/console/list/filter.tsx';
import {
  BREAK_FILTER,
  type BreakFilter,
  listBreaks,
} from '../../src/features/matching/break-list.sql.ts';
import {
  exclusively,
  makeMatches,
  resolveBreaks,
} from '../../src/features/matching/match-decisions.sql.ts';
import { runMatching } from '../../src/features/matching/run-matching.sql.ts';
import { importPayables, type PayableFields } from './payables.ts';
import { DAY, type PullWorld } from './pull-world.ts';
import { titleText } from './titles.ts';

/** The buyer of `titleText`. */
export const TITLE_BUYER = '90021382000122';
/** The financial agent of `titleText`. */
export const TITLE_AGENT = '11222333000181';

export type DayTitle = NonNullable<Parameters<typeof titleText>[0]>;

/** A title of words has at least these. */
type TitleInWords = DayTitle & Readonly<Record<'uid' | 'value', string>> & TitleWords;
type TitleWords = { readonly [field in 'dueDate' | 'discount' | 'agent']?: string };

export async function pullTitles(world: PullWorld, titles: readonly DayTitle[]): Promise<void> {
  const texts = titles.map((title) => titleText(title));
  await world.serve(DAY, texts, { withdrawalLimitPercent: 100 });
}

/** Removes payables, matches, decisions, seals and lines. To truncate the tables would take several times as long. */
export async function clearMatching({ pool }: Database): Promise<void> {
  const names =
    'title_match match_run break_decision matching_rule company_buyer party_equivalent erp_payable erp_payable_reject ' +
    'erp_payable_import sign_off booking_batch booking_line booking_offer';
  const statements = names.split(' ').map((name) => `DELETE FROM conciliation.${name}`);
  await pool.query(
    [
      // For this transaction: triggers refuse the removal of lines and of entries.
      'SET LOCAL session_replication_role = replica',
      ...statements,
      // A resolution that is gone while its entry is there is an alteration.
      `DELETE FROM conciliation.audit_entry WHERE action IN ('break.resolve', 'break.reopen')`,
    ].join(';'),
  );
}

export const match = (database: Database) => runMatching(database, { by: 'test' });

/** The matches that last, as "order=key rule". */
export async function listMatches({ prisma }: Database): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ name: string }[]>`
    SELECT order_uid || '=' || erp_key || ' ' || rule AS name FROM conciliation.title_match
    JOIN conciliation.title ON title.id = title_id WHERE ended_at IS NULL`;
  return rows.map(({ name }) => name).sort();
}

/** The filter of the open breaks. */
export const OPEN_BREAKS = { ...readFilter(BREAK_FILTER, {}), offset: 0, limit: 1000 };

/** Resolves the breaks of a filter, as the list shows them. */
export async function resolveListed(
  database: Database,
  wanted: Partial<BreakFilter>,
  decision: Parameters<typeof resolveBreaks>[2],
): Promise<void> {
  const filter = { ...OPEN_BREAKS, ...wanted };
  const { digest: seenDigest } = await listBreaks(database.prisma, filter);
  await resolveBreaks(database, { ...filter, seenDigest }, decision);
}

/** Matches a title with payables, whatever the rules propose. Returns the number of the match. */
export const matchPair = (
  database: Database,
  { titleId, erpKeys }: { readonly titleId: bigint; readonly erpKeys: readonly string[] },
  decision: Parameters<typeof makeMatches>[2],
): Promise<bigint> =>
  exclusively(database, async (tx) => {
    const [row] = await tx.$queryRaw<[{ difference: string }]>`
      SELECT ((SELECT sum(open_value) FROM conciliation.erp_payable WHERE erp_key = ANY(${[...erpKeys]}))
              - original_value)::text AS difference
      FROM conciliation.title WHERE id = ${titleId}`;
    const chosen = { titleId: Number(titleId), erpKeys: [...erpKeys], ...row };
    await makeMatches(tx, [chosen], decision);
    const where = { titleId, titlePart: 0, endedAt: null };
    return (await tx.titleMatch.findFirstOrThrow({ where })).id;
  });

/** The breaks as "kind order key". */
export async function listBreakNames(database: Database): Promise<string[]> {
  const { breaks } = await listBreaks(database.prisma, OPEN_BREAKS);
  return breaks.map(
    ({ kind, title, payable }) => `${kind} ${title?.orderUid ?? '-'} ${payable?.erpKey ?? '-'}`,
  );
}

export async function currentTitleId({ prisma }: Database, orderUid: string): Promise<bigint> {
  const where = { orderUid, status: 'current' };
  return (await prisma.title.findFirstOrThrow({ where })).id;
}

/** A posted booking of an order that no test has otherwise. */
export async function addBooking(
  { prisma }: Database,
  order: string,
  key: string,
  date = '2026-03-01',
): Promise<void> {
  await prisma.$executeRaw`
    WITH batch AS (
      INSERT INTO conciliation.booking_batch
        (date, released_by, line_count, book_count, adjust_count, reverse_count, original_value_sum,
         platform_discounted_value_sum, financial_discounted_value_sum, buyer_discounted_value_sum,
         billing_fee_sum, money_transfer_fee_sum, digest)
      VALUES (${date}::date, 'test', 1, 1, 0, 0, 10, 0, 0, 0, 0, 0, '') RETURNING id
    )
    INSERT INTO conciliation.booking_line
      (batch_id, consumer, date, identity_hash, occurrence, version, kind, content_hash, state, erp_key, title_id,
       order_uid, original_value, posting_value, accounting_date, accounting_basis)
    SELECT id, (SELECT min(name) FROM conciliation.booking_consumer), ${date}::date, md5(${order})::uuid, 1, 1, 'book',
           md5('')::uuid, 'posted', ${key}, 0, ${order}, 10, 10, ${date}::date, 'acceptance' FROM batch`;
}

const FIELDS = {
  order: 'orderUid',
  due: 'dueDate',
  doc: 'document',
  part: 'instalment',
  total: 'totalValue',
  to: 'paidTo',
  as: 'settledAs',
  by: 'settledBy',
} as const;
const PAYABLE_FIELDS = { ...FIELDS, code: 'supplierExternalId', tax: 'supplierTaxId' };

/** Rows in words, divided by commas: a key, a value, and then `field=value` or a status. */
function rowsOf(words: string, names: Readonly<Record<string, string>>) {
  return words.split(', ').map((row) => {
    const [key = '', value = '', ...more] = row.split(' ');
    const fields = more.map((word) => {
      const [name = '', text] = word.split('=');
      return text === undefined ? ['status', name] : [names[name] ?? name, text];
    });
    return { key, value, fields: Object.fromEntries(fields) as Record<string, string> };
  });
}

/** For example "k1 10.50 order=a due=2026-07-05 paid, k2 20". */
export const payablesOf = (words: string): PayableFields[] =>
  rowsOf(words, PAYABLE_FIELDS).map(({ key, value, fields }) => ({
    ...{ erpKey: key, openValue: value },
    ...fields,
  }));

/** For example "a 10.50 due=2026-07-05, b 20". A supplier with a tax identifier has no code. */
export const titlesOf = (words: string): TitleInWords[] =>
  rowsOf(words, { ...FIELDS, tax: 'taxId' }).map(({ key, value, fields }) => ({
    ...{ uid: key, value, ...(fields['taxId'] !== undefined && { code: null }) },
    ...fields,
  }));

/** What changes, and what a run of the matching then makes of it. */
export interface Step {
  /** Forgets all but the titles. */
  readonly clear?: true;
  readonly titles?: string | readonly DayTitle[];
  readonly load?: string;
  /** A complete snapshot closes the payables that it lacks. */
  readonly snapshot?: string;
  /** A person confirms the buyer of a code of the ERP, "code=buyer". */
  readonly company?: string;
  /** A person matches a title and a payable, "order=key", or payables, "order=key+key". */
  readonly person?: string;
  /** All fields of a row that no import states. */
  readonly set?: { readonly erpKey: string; readonly [field: string]: string | null };
  readonly matches?: string;
  readonly breaks?: string;
}

const RITA = { by: 'rita', code: 'other', reason: 'confirmed' } as const;

export async function play(world: PullWorld, steps: readonly Step[]): Promise<void> {
  const { database } = world;
  const { prisma } = database;
  for (const { titles, load, snapshot, company, person, set, matches, breaks, clear } of steps) {
    if (clear) await clearMatching(database);
    if (titles !== undefined) {
      await pullTitles(world, typeof titles === 'string' ? titlesOf(titles) : titles);
    }
    if (load !== undefined) await importPayables(database, payablesOf(load));
    if (snapshot !== undefined) await importPayables(database, payablesOf(snapshot), 'snapshot');
    if (company !== undefined) {
      const [code = '', buyer = ''] = company.split('=');
      const data = { company: code, buyer, confirmedBy: 'rita', reason: 'list of branches' };
      await prisma.companyBuyer.create({ data });
    }
    if (person !== undefined) {
      const [order = '', erpKey = ''] = person.split('=');
      const titleId = await currentTitleId(database, order);
      await matchPair(database, { titleId, erpKeys: erpKey.split('+') }, RITA);
    }
    if (set !== undefined) {
      const { erpKey, ...data } = set;
      await prisma.erpPayable.update({ where: { erpKey }, data });
    }
    if (matches !== undefined || breaks !== undefined) await match(database);
    if (matches !== undefined) {
      expect((await listMatches(database)).join(', ')).toBe(matches);
    }
    if (breaks !== undefined) expect((await listBreakNames(database)).join(', ')).toBe(breaks);
  }
}
