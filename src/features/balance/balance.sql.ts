/** The proof of balance: what the titles say is owed to each financial agent, against what the ERP states. */
import { type Static, Type } from 'typebox';
import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { taxIdOf } from '../../base/database/expressions.sql.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { parseCnpj } from '../../base/values/tax-id.ts';
import {
  amount,
  date,
  dateOrNull,
  instantOrNull,
  orNull,
  text,
  textOrNull,
  words,
} from '../../console/api/schema-parts.ts';
import type { Sums } from '../../console/list/columns.tsx';
import type { Place } from '../../console/list/list.tsx';
import { BUYER, companyIdOf } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { askedLines, BOOKING_OF_PAYABLE } from '../matching/asked-lines.sql.ts';
import { isAgent, TITLE_TAX_ID } from '../matching/candidates.sql.ts';
import { PAYEE } from '../matching/judgement.sql.ts';
import { AMOUNT } from '../matching/payables/payable.ts';

/** Why a row differs. The first that applies, in the order of `REASON`. */
export const BALANCE_REASONS = [
  'no_line',
  'released',
  'failed',
  'no_item',
  'gone',
  'value_differs',
  'paid_to_supplier',
  'other_agent',
  'paid_and_open',
  'withdrawn',
  'outside',
  'without_title',
] as const;
type BalanceReason = (typeof BALANCE_REASONS)[number];

/** A title, or payables without one, that the platform and the ERP state with different values. */
export const BalanceRow = Type.Object({
  company: Type.String({ description: 'The buyer of the titles in normal form.' }),
  agent: Type.String({ description: 'The financial agent in normal form.' }),
  reason: words(BALANCE_REASONS),
  titleId: orNull('integer', { description: 'Null: the payable has no title.' }),
  acceptedDate: dateOrNull,
  orderUid: textOrNull,
  erpKeys: orNull('string', { description: 'The open payables of the agent. Null: none.' }),
  owed: Type.String({ description: 'What the platform says is owed. Exact decimal.' }),
  inErp: Type.String({ description: 'Open value of the payables. Exact decimal.' }),
  difference: amount,
});
export type BalanceRow = Static<typeof BalanceRow>;

const figure = (description: string) => Type.String({ description });
export const BalanceGroup = Type.Object({
  company: text,
  agent: text,
  owed: figure('Value of the titles whose payment to the agent the ERP has not stated.'),
  inErp: figure('Open value of the payables that are to be paid to the agent.'),
  difference: figure('owed minus inErp: the sum of the rows.'),
  booked: figure('What was posted for titles whose payment to the agent the ERP has not stated.'),
  paid: figure('Value of the titles that the ERP has paid to the agent. In no other figure.'),
  balance: orNull('string', { description: 'Of the account in the ERP. Null: not supplied.' }),
  asOf: dateOrNull,
  statedAt: instantOrNull,
  accountDifference: orNull('string', { description: 'inErp minus balance.' }),
});
export type BalanceGroup = Static<typeof BalanceGroup>;

export interface BalanceFilter {
  readonly company: string | null;
  readonly agent: string | null;
  readonly reason: BalanceReason | null;
}

export interface Balance {
  /** The first accepted date. Null: the ERP has given no payables. */
  readonly from: CivilDate | null;
  readonly groups: readonly BalanceGroup[];
  readonly groupSums: Sums;
  /** The number of rows that the filter selects. */
  readonly rows: number;
  readonly sums: Sums;
  readonly page: BalanceRow[];
}

const ALL = Prisma.sql`true`;
export const TITLE_AGENT = taxIdOf('title.financial_agent_identification');
const PAID_TO = Prisma.sql`coalesce(payable.paid_to, CASE WHEN payable.booking_key IS NOT NULL OR (${PAYEE}) <> 'supplier' THEN payable.payee END)`;
export const IN_BRL = Prisma.sql`coalesce(payable.currency, 'BRL') = 'BRL'`;

/** The agent of a title or a line that a tax identifier names; null: none. */
const known = (party: Prisma.Sql) => Prisma.sql`
  (SELECT tax_id FROM known_agent WHERE ${isAgent(party, Prisma.sql`tax_id`)}
   ORDER BY tax_id = ${party} DESC, tax_id LIMIT 1)`;

/** The buyer that a company `payable.company` of the ERP stands for, or the only one. @param titles with `company` */
export const buyerOfCompany = (titles: Prisma.Sql): Prisma.Sql => Prisma.sql`
  coalesce((SELECT min(buyer) FROM conciliation.company_buyer AS mapped
            WHERE mapped.company = payable.company AND ended_at IS NULL),
           CASE WHEN length(translate(payable.company, './- ', '')) = 14 THEN ${companyIdOf('payable.company')} END,
           (SELECT min(company) FROM ${titles} HAVING count(DISTINCT company) = 1), payable.company, '')`;

/**
 * For a statement with WITH. `owed` has the titles from the first date on, without those that the buyer finances itself.
 * `item` has the payables of titles and of agents: `holder` is the agent in whose balance the payable is; null: in none.
 * `payment` has what the payables say of each title, from any date on: whether the agent was paid (`is_paid`), the date
 * of the settlement, when the ERP stated it at the latest (`changed_at`), and when it stated a payable as open (`open_at`).
 */
export const PAYMENTS = Prisma.sql`
  ${askedLines({ lines: ALL, titles: ALL })}, start AS MATERIALIZED (
    SELECT coalesce((SELECT bookings_from FROM conciliation.booking_start),
                    (SELECT (min(created_at) AT TIME ZONE run.time_zone)::date FROM conciliation.erp_payable)) AS date,
           run.*
    FROM (
      SELECT coalesce(max(time_zone), 'America/Sao_Paulo') AS time_zone, coalesce(bool_or(states_paid), false) AS states_paid
      FROM (SELECT * FROM conciliation.match_run ORDER BY id DESC LIMIT 1) AS newest
    ) AS run
  ), owed AS MATERIALIZED (
    SELECT title.id, ${BUYER} AS company, coalesce(${TITLE_AGENT}, '') AS agent,
           original_value
    FROM conciliation.title AS title, start
    WHERE status = 'current' AND accepted_date >= start.date AND buyer_is_financial IS NOT TRUE
  ), known_agent AS MATERIALIZED (
    SELECT agent AS tax_id FROM owed WHERE agent <> ''
    UNION SELECT ${taxIdOf('financial_agent_identification')} FROM (
      SELECT DISTINCT financial_agent_identification FROM conciliation.booking_line
      WHERE buyer_is_financial IS NOT TRUE AND financial_agent_identification IS NOT NULL) AS named
  ), pair AS MATERIALIZED (
    SELECT coalesce(own.title_id, booking.title_id) AS title_id, payable.erp_key, booking.id AS line_id
    FROM conciliation.erp_payable AS payable
    LEFT JOIN booking ON booking_name = ${BOOKING_OF_PAYABLE}
    LEFT JOIN own ON own.line_id = booking.id
    WHERE payable.booking_key IS NOT NULL AND ${IN_BRL}
    UNION ALL
    SELECT title_id, erp_key, NULL
    FROM conciliation.title_payable JOIN conciliation.erp_payable AS payable USING (erp_key)
    WHERE payable.booking_key IS NULL AND ${IN_BRL}
    UNION ALL
    -- Of no title, or of one that is withdrawn, which has ended the match.
    SELECT former.title_id, payable.erp_key, NULL
    FROM conciliation.erp_payable AS payable LEFT JOIN LATERAL (
      SELECT match.title_id FROM conciliation.title_match AS match
      JOIN conciliation.title ON title.id = match.title_id AND title.status = 'withdrawn'
      WHERE match.erp_key = payable.erp_key AND match.ended_at IS NOT NULL ORDER BY match.id DESC LIMIT 1
    ) AS former ON true
    WHERE payable.booking_key IS NULL AND payable.payee IS NOT NULL AND ${IN_BRL}
      AND NOT EXISTS (SELECT FROM conciliation.title_payable AS taken WHERE taken.erp_key = payable.erp_key)
  ), judged AS MATERIALIZED (
    SELECT pair.*, title.original_value, payable.open_value, payable.booking_key IS NOT NULL AS is_made,
           payable.status = 'open' AND payable.closed_at IS NULL AS is_open, payable.closed_at IS NOT NULL AS is_gone,
           payable.settled_by IS NOT NULL OR coalesce(payable.settled_as IN ('assignment', 'offset'), false) AS is_settled,
           payable.status = 'paid' OR payable.settled_as = 'payment'
             OR payable.open_value = 0 AND payable.closed_at IS NULL AND payable.status = 'open' AS is_paid,
           CASE WHEN title.id IS NULL THEN ${buyerOfCompany(Prisma.sql`owed`)}
                ELSE coalesce(${companyIdOf('title.buyer_identification')}, '') END AS company,
           payable.settled_on, payable.changed_at, payable.stated_at,
           ${TITLE_AGENT} AS title_agent, ${TITLE_TAX_ID} AS title_supplier, payable.supplier_tax_id,
           ${PAID_TO} AS paid_to,
           CASE WHEN payable.booking_key IS NOT NULL
                  THEN coalesce(payable.payee, CASE WHEN ${known(Prisma.sql`payable.supplier_tax_id`)} IS NOT NULL
                                                    THEN payable.supplier_tax_id END, ${TITLE_AGENT}, '')
                WHEN (${PAYEE}) <> 'supplier' THEN payable.payee END AS receiver
    FROM pair JOIN conciliation.erp_payable AS payable USING (erp_key)
    LEFT JOIN conciliation.title AS title ON title.id = pair.title_id
  ), item AS MATERIALIZED (
    SELECT judged.*,
           CASE WHEN ${isAgent(Prisma.sql`receiver`, Prisma.sql`title_agent`)} THEN title_agent
                ELSE coalesce(${known(Prisma.sql`receiver`)}, CASE WHEN is_made THEN receiver END) END AS holder,
           -- Titles of one payable take its value in their order; the last one takes the rest.
           coalesce(sum(original_value) OVER (PARTITION BY erp_key ORDER BY title_id
                                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS taken,
           lead(title_id) OVER (PARTITION BY erp_key ORDER BY title_id) IS NULL AS is_last
    FROM judged
  ), payment AS MATERIALIZED (
    SELECT title_id, max(receiver) FILTER (WHERE is_open AND receiver IS NOT NULL AND NOT is_ours) IS NOT NULL AS has_other,
           coalesce(bool_or(pays_agent), false) AS is_paid, max(settled_on) FILTER (WHERE pays_agent) AS settled_on,
           max(changed_at) FILTER (WHERE pays_agent) AS changed_at,
           max(stated_at) FILTER (WHERE is_open AND is_paid IS NOT TRUE) AS open_at,
           coalesce(bool_or(is_paid AND paid_to IS NOT NULL AND NOT to_agent AND to_supplier), false) AS to_supplier,
           coalesce(bool_or(is_paid AND paid_to IS NOT NULL AND NOT to_agent AND NOT to_supplier), false) AS to_other,
           coalesce(bool_or(is_paid AND NOT is_made AND paid_to IS NULL AND NOT is_settled), false) AS is_paid_early,
           coalesce(bool_or(is_gone AND (is_made OR is_ours)), false) AS is_gone
    FROM (
      SELECT paid.*,
             -- A complete snapshot of an ERP that states open payables alone lacks what is paid.
             is_paid AND NOT is_settled AND (is_made AND paid_to IS NULL OR to_agent)
               OR is_gone AND (is_made OR is_ours) AND NOT states_paid AS pays_agent
      FROM (
        SELECT item.*, ${isAgent(Prisma.sql`receiver`, Prisma.sql`title_agent`)} AS is_ours,
               ${isAgent(Prisma.sql`paid_to`, Prisma.sql`title_agent`)} AS to_agent,
               ${isAgent(Prisma.sql`paid_to`, Prisma.sql`title_supplier`)}
                 OR NOT is_made AND ${isAgent(Prisma.sql`paid_to`, Prisma.sql`supplier_tax_id`)} AS to_supplier
        FROM item WHERE title_id IS NOT NULL
      ) AS paid, start
    ) AS paid GROUP BY title_id
  )`;

/** The same, with both sides in `side`, each value once, so that the rows of `differing` sum up to the difference of their group. */
const BALANCE = Prisma.sql`
  ${PAYMENTS}, side AS MATERIALIZED (
    SELECT owed.company, owed.agent, owed.id AS title_id, NULL AS erp_key, owed.original_value AS value, 0 AS in_erp,
           coalesce(payment.is_paid, false) AS is_paid
    FROM owed LEFT JOIN payment ON payment.title_id = owed.id
    UNION ALL
    SELECT company, holder, title_id, erp_key, 0,
           CASE WHEN is_last THEN open_value - greatest(0, least(taken, open_value))
                ELSE greatest(0, least(original_value, open_value - taken)) END, false
    FROM item WHERE is_open AND holder IS NOT NULL
  ), differing AS MATERIALIZED (
    SELECT company, agent, title_id, sum(value) AS owed, sum(in_erp) AS in_erp, string_agg(erp_key, ', ' ORDER BY erp_key) AS erp_keys
    FROM side WHERE NOT is_paid
    GROUP BY company, agent, title_id, CASE WHEN title_id IS NULL THEN erp_key END
    HAVING sum(value) <> sum(in_erp)
  ), explained AS MATERIALIZED (
    SELECT differing.*, title.accepted_date, title.order_uid,
           CASE WHEN title.id IS NULL THEN 'without_title'
                WHEN title.status = 'withdrawn' THEN 'withdrawn'
                WHEN payment.is_paid THEN 'paid_and_open'
                WHEN payment.to_supplier THEN 'paid_to_supplier'
                WHEN payment.to_other OR payment.has_other OR ${TITLE_AGENT} IS DISTINCT FROM nullif(differing.agent, '')
                  THEN 'other_agent'
                WHEN title.id NOT IN (SELECT id FROM owed) THEN 'outside'
                WHEN payment.is_paid_early AND line.state IS DISTINCT FROM 'released' AND line.is_posted IS NOT TRUE
                  THEN 'paid_to_supplier'
                WHEN differing.in_erp <> 0 AND coalesce(line.state, 'posted') = 'posted' THEN 'value_differs'
                WHEN line.state = 'posted' OR line.is_posted AND differing.in_erp = 0
                  THEN CASE WHEN payment.is_gone THEN 'gone' ELSE 'no_item' END
                ELSE coalesce(line.state, 'no_line') END AS reason
    FROM differing
    LEFT JOIN conciliation.title AS title ON title.id = differing.title_id
    LEFT JOIN payment ON payment.title_id = title.id
    LEFT JOIN (
      SELECT own.title_id, stands AS is_posted,
             CASE WHEN is_undone THEN NULL WHEN state IN ('released', 'posted') THEN state ELSE 'failed' END AS state
      FROM own JOIN booking ON booking.id = own.line_id
    ) AS line ON line.title_id = title.id
  ), posted AS MATERIALIZED (
    SELECT coalesce(${companyIdOf('line.buyer_identification')}, '') AS company,
           coalesce(${taxIdOf('line.financial_agent_identification')}, '') AS agent, sum(line.posting_value) AS booked
    FROM booking JOIN conciliation.booking_line AS line
      ON line.date = booking.date AND line.identity_hash = booking.identity_hash
     AND line.occurrence = booking.occurrence AND line.version = booking.posted_version
    LEFT JOIN own ON own.line_id = booking.id
    LEFT JOIN payment ON payment.title_id = coalesce(own.title_id, booking.title_id)
    WHERE stands AND line.buyer_is_financial IS NOT TRUE AND payment.is_paid IS NOT TRUE
    GROUP BY 1, 2
  ), account AS MATERIALIZED (
    SELECT DISTINCT ON (company, agent) * FROM conciliation.erp_balance ORDER BY company, agent, as_of DESC, id DESC
  ), figures AS MATERIALIZED (
    SELECT company, agent, sum(value) FILTER (WHERE NOT is_paid) AS owed, sum(in_erp) AS in_erp,
           sum(value) FILTER (WHERE is_paid) AS paid
    FROM side GROUP BY company, agent
  ), groups AS MATERIALIZED (
    SELECT company, agent, coalesce(owed, 0) AS owed, coalesce(in_erp, 0) AS in_erp, coalesce(booked, 0) AS booked,
           coalesce(paid, 0) AS paid, balance, as_of, stated_at
    FROM figures FULL JOIN posted USING (company, agent) FULL JOIN account USING (company, agent)
  )`;

/** Reads the proof as of now. */
export async function readBalance(
  tx: Transaction,
  { company, agent, reason }: BalanceFilter,
  { offset, limit }: Place,
): Promise<Balance> {
  const isOfGroup = Prisma.sql`
    (${company}::text IS NULL OR company IN (${company}::text, conciliation.tax_id(${company}::text, true)))
    AND (${agent}::text IS NULL OR agent IN (${agent}::text, conciliation.tax_id(${agent}::text)))`;
  const [balance] = await tx.$queryRaw<[Balance]>`
    WITH ${BALANCE}, chosen AS MATERIALIZED (
      SELECT *, owed - in_erp AS difference FROM explained
      WHERE ${isOfGroup} AND (${reason}::text IS NULL OR reason = ${reason}::text)
    )
    SELECT (SELECT date::text FROM start) AS "from",
           (SELECT coalesce(jsonb_agg(jsonb_build_object(
              'company', company, 'agent', agent, 'owed', owed::text, 'inErp', in_erp::text,
              'difference', (owed - in_erp)::text, 'booked', booked::text, 'paid', paid::text,
              'balance', balance::text, 'asOf', as_of, 'statedAt', stated_at,
              'accountDifference', (in_erp - balance)::text) ORDER BY company, agent), '[]')
            FROM groups WHERE ${isOfGroup}) AS groups,
           (SELECT jsonb_build_object('owed', coalesce(sum(owed), 0)::text, 'in_erp', coalesce(sum(in_erp), 0)::text,
                                      'difference', coalesce(sum(owed - in_erp), 0)::text,
                                      'booked', coalesce(sum(booked), 0)::text, 'paid', coalesce(sum(paid), 0)::text)
            FROM groups WHERE ${isOfGroup}) AS "groupSums",
           (SELECT count(*)::float8 FROM chosen) AS rows,
           (SELECT jsonb_build_object('owed', coalesce(sum(owed), 0)::text, 'in_erp', coalesce(sum(in_erp), 0)::text,
                                      'difference', coalesce(sum(difference), 0)::text) FROM chosen) AS sums,
           (SELECT coalesce(jsonb_agg(jsonb_build_object(
              'company', company, 'agent', agent, 'reason', reason, 'titleId', title_id, 'acceptedDate', accepted_date,
              'orderUid', order_uid, 'erpKeys', erp_keys, 'owed', owed::text, 'inErp', in_erp::text,
              'difference', difference::text) ORDER BY company, agent, accepted_date, title_id, erp_keys), '[]')
            FROM (SELECT * FROM chosen ORDER BY company, agent, accepted_date, title_id, erp_keys
                  LIMIT ${limit}::int OFFSET ${offset}::int) AS shown) AS page`;
  return balance;
}

const cnpj = (description: string) => Type.String({ minLength: 1, maxLength: 30, description });

/** The balance of an account of the ERP. */
export const StatedBalance = Type.Object({
  company: cnpj('CNPJ of the company, the buyer of the titles. The mask is accepted.'),
  agent: cnpj('CNPJ of the financial agent. The mask is accepted.'),
  asOf: Type.Unsafe<CivilDate>({ ...date, description: 'At the latest today in TIMEZONE.' }),
  balance: Type.String({
    pattern: AMOUNT.source,
    description: 'What the company owes to the agent at the end of the day. Exact decimal.',
  }),
});
type StatedBalance = Static<typeof StatedBalance>;

/**
 * Writes balances of the ERP.
 * @param today the day in TIMEZONE
 * @throws InputError when an identifier is no CNPJ, or a day has not begun
 */
export async function stateBalances(
  { prisma }: Database,
  balances: readonly StatedBalance[],
  { by, today }: { readonly by: string; readonly today: CivilDate },
): Promise<void> {
  // It would count instead of all balances until then.
  if (balances.some(({ asOf }) => asOf > today)) {
    throw new InputError(`asOf: expected a date that is not after today, ${today}`);
  }
  const data = balances.map(({ company, agent, asOf, balance }) => ({
    ...{ company: digitsOf('company', company), agent: digitsOf('agent', agent) },
    ...{ asOf, balance, statedBy: by },
  }));
  await prisma.$transaction(async (tx) => {
    await tx.erpBalance.createMany({ data });
    await recordAudit(tx, {
      actor: by,
      action: 'balance.import',
      details: { balances: data.length },
    });
  });
}

function digitsOf(field: string, written: string): string {
  const cnpj = parseCnpj(written);
  if (cnpj !== null) return cnpj.digits;
  throw new InputError(`${field}: expected a CNPJ with the right check digits`);
}
