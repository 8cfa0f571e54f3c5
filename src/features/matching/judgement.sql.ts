/** What a payable may say of a title, by what the lines of the title have asked for: docs/matching.md. */
import { taxIdOf } from '../../base/database/expressions.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { isAgent, TITLE_TAX_ID } from './candidates.sql.ts';

/** A kind of breaks. `breaksOf` has its condition, docs/matching.md and the texts `matching.help.…` explain it. */
interface Kind {
  /** Absent: the verdict on the payable says so, or the break is not urgent. */
  readonly isUrgent?: true;
  /**
   * The title is not released while the break is open: `before` a line is released, or, while the break is urgent, also
   * afterwards, because the supplier has the money (`always`). Absent: the break keeps no title.
   */
  readonly keeps?: 'before' | 'always';
}

/** The kinds, in the order of a list. An unmatched title is in one break. */
const BREAKS = {
  paid_to_supplier: { keeps: 'always' },
  anticipated_twice: { isUrgent: true, keeps: 'always' },
  posted_twice: { isUrgent: true },
  reversal_refused: { isUrgent: true, keeps: 'always' },
  paid_in_part: { keeps: 'always' },
  gone_from_erp: { keeps: 'always' },
  payee_changed: { keeps: 'before' },
  still_open: { keeps: 'before' },
  due_before_release: { isUrgent: true },
  already_assigned: { keeps: 'before' },
  offset_in_erp: { keeps: 'before' },
  cancelled_in_erp: { keeps: 'before' },
  withdrawn_open: {},
  duplicated_in_erp: {},
  in_doubt: {},
  value_differs: {},
  due_date_differs: {},
  missing_in_erp: {},
  missing_on_platform: {},
} as const satisfies Record<string, Kind>;
export type BreakKind = keyof typeof BREAKS;
export const BREAK_KINDS = Object.keys(BREAKS) as readonly BreakKind[];

// Constants of this file. No input reaches Prisma.raw.
const valuesOf = (rows: readonly string[]) => Prisma.raw(`(VALUES ${rows.join(',\n')})`);

/** The kinds as a relation: severity is 2 where each break of the kind is urgent, otherwise 1. */
export const KINDS: Prisma.Sql = Prisma.sql`
  ${valuesOf(
    Object.entries<Kind>(BREAKS).map(
      ([kind, { isUrgent = false, keeps }]) =>
        `('${kind}', ${isUrgent ? 2 : 1}, ${keeps !== undefined}, ${keeps === 'always'})`,
    ),
  )} AS kinds (kind, severity, keeps, keeps_line)`;

const TITLE_AGENT = taxIdOf('title.financial_agent_identification');

/** Days that an ERP has to show in its payables what a line asked for. An automatic clearing runs later than the posting. */
export const GRACE_DAYS = 3;

/**
 * What the newest line of a title asks for.
 * - `unbooked`: the date has no bookings
 * - `before`: no line asks for anything
 * - `reversed`: like `before`, after a posted reversal
 * - `released`, `failed`: the ERP has not answered, or could not post; a final refusal of a posting is `failed`
 * - `posted`: posted
 * - `withdrawn`: a withdrawn title whose reversal is posted
 */
const LINE_STATES = ['unbooked', 'before', 'released', 'failed', 'posted', 'reversed', 'withdrawn'];

const grace = Prisma.sql`make_interval(days => ${GRACE_DAYS}::int)`;

/**
 * The verdicts, with their severity: 0 expected, 1 a break, 2 urgent. Of a relation with the columns of the pair
 * (`settled_on`, `changed_at`, `stated_at`, `title_due_date`, `is_matched`, `is_written_off`), of the line (`begun_at`, `posted_at`) and of
 * the newest run (`states_paid`, `time_zone`).
 */
const VERDICT_SEVERITY = {
  /** Expected, or without meaning. */
  '-': Prisma.sql`0`,
  break: Prisma.sql`1`,
  urgent: Prisma.sql`2`,
  /** Urgent where no match joins the two, otherwise expected. */
  unmatched: Prisma.sql`CASE WHEN is_matched THEN 0 ELSE 2 END`,
  /** Urgent, unless complete snapshots of this ERP state paid payables; then a break. */
  vanished: Prisma.sql`CASE WHEN states_paid THEN 1 ELSE 2 END`,
  /** Urgent where the ERP settled before the day of the release, or has not answered within the grace. */
  unanswered: Prisma.sql`
    CASE WHEN settled_on < (begun_at AT TIME ZONE time_zone)::date OR changed_at + ${grace} < now() THEN 2 ELSE 0 END`,
  /** Urgent once the ERP states the payable later than the receipt and the grace, and has not written the part of the title off. */
  unchanged: Prisma.sql`CASE WHEN stated_at > posted_at + ${grace} AND NOT is_written_off THEN 2 ELSE 0 END`,
  /** Urgent once the ERP states the payable later than the receipt of the reversal, until then expected. */
  undone: Prisma.sql`CASE WHEN stated_at > posted_at THEN 2 ELSE 0 END`,
  /** Like `undone`, until then a break. */
  kept: Prisma.sql`CASE WHEN stated_at > posted_at THEN 2 ELSE 1 END`,
  /** A break once the due date and the grace are over. */
  overdue: Prisma.sql`
    CASE WHEN title_due_date + ${GRACE_DAYS}::int < (now() AT TIME ZONE time_zone)::date THEN 1 ELSE 0 END`,
};
type Verdict = keyof typeof VERDICT_SEVERITY;

/** The severity of a verdict. */
export const SEVERITY: Prisma.Sql = Prisma.sql`
  CASE verdict ${Prisma.join(
    Object.entries(VERDICT_SEVERITY).map(
      ([verdict, severity]) => Prisma.sql`WHEN ${verdict} THEN ${severity}`,
    ),
    ' ',
  )} END`;

/** What the row of a payable says, with the kind of the break that this is. */
const KIND_OF = {
  open: 'still_open',
  settled_here: 'already_assigned',
  settled_elsewhere: 'anticipated_twice',
  assigned: 'already_assigned',
  paid_supplier: 'paid_to_supplier',
  paid_agent: 'already_assigned',
  paid: 'paid_to_supplier',
  gone: 'gone_from_erp',
  offset: 'offset_in_erp',
  part: 'paid_in_part',
  part_agent: 'paid_in_part',
  agent_payee: 'payee_changed',
  other_payee: 'payee_changed',
  cancelled: 'cancelled_in_erp',
} as const satisfies Record<string, BreakKind>;
export type Situation = keyof typeof KIND_OF;

/** By state of the line. `reversed` absent: as `before`. `withdrawn` absent: expected. */
type Cells = readonly [
  ...[unbooked: Verdict, before: Verdict, released: Verdict, failed: Verdict, posted: Verdict],
  ...[reversed?: Verdict, withdrawn?: Verdict],
];

const AFTER_REVERSAL = ['kept', 'undone'] as const;

/** The financial agent is to be paid instead of the supplier. */
export const PAYEE_CHANGE: Readonly<Record<Situation, Cells>> = {
  //                     unbooked     before      released      failed    posted
  open: ['-', '-', '-', '-', 'unchanged'],
  settled_here: ['-', 'break', '-', 'break', '-', ...AFTER_REVERSAL],
  settled_elsewhere: ['urgent', 'urgent', 'urgent', 'urgent', 'urgent'],
  assigned: ['-', 'break', '-', 'break', '-', 'break', 'undone'],
  paid_supplier: ['urgent', 'urgent', 'urgent', 'urgent', 'urgent'],
  paid_agent: ['-', 'break', '-', 'break', '-', 'break', 'undone'],
  paid: ['unmatched', 'urgent', 'unanswered', 'urgent', '-'],
  gone: ['-', 'vanished', 'unanswered', 'urgent', '-'],
  offset: ['-', 'break', 'break', 'break', 'break'],
  part: ['break', 'urgent', 'urgent', 'urgent', 'urgent'],
  part_agent: ['break', 'urgent', 'urgent', 'urgent', '-'],
  agent_payee: ['-', 'break', '-', 'break', '-', ...AFTER_REVERSAL],
  other_payee: ['urgent', 'break', 'urgent', 'urgent', 'urgent'],
  cancelled: ['-', 'break', 'urgent', 'break', 'break'],
};

/** The buyer is the financial agent, and pays the supplier before the due date. */
export const EARLY_PAYMENT: Readonly<Record<Situation, Cells>> = {
  open: ['-', '-', '-', '-', 'overdue'],
  settled_here: ['-', 'break', '-', 'break', '-', ...AFTER_REVERSAL],
  settled_elsewhere: ['urgent', 'urgent', 'urgent', 'urgent', 'urgent'],
  assigned: ['-', 'break', 'break', 'break', 'break'],
  paid_supplier: ['-', 'break', '-', 'break', '-'],
  paid_agent: ['-', 'break', 'break', 'break', 'break'],
  paid: ['-', 'break', '-', 'break', '-'],
  gone: ['-', 'break', '-', 'break', '-'],
  offset: ['-', 'break', 'break', 'break', 'break'],
  part: ['break', 'break', '-', 'break', '-'],
  part_agent: ['break', 'break', 'break', 'break', 'break'],
  agent_payee: ['break', 'break', 'break', 'break', 'break'],
  other_payee: ['urgent', 'break', 'urgent', 'urgent', 'urgent'],
  cancelled: ['-', 'break', 'urgent', 'break', 'break'],
};

const ROWS = Object.entries({ false: PAYEE_CHANGE, true: EARLY_PAYMENT }).flatMap(
  ([isEarly, table]) =>
    Object.entries(table).flatMap(([situation, cells]) =>
      LINE_STATES.map((state, place) => {
        const verdict = cells[place] ?? (state === 'reversed' ? cells[1] : '-');
        return `(${isEarly}, '${situation}', '${state}', '${verdict}', '${KIND_OF[situation as Situation]}')`;
      }),
    ),
);

/** The tables as a relation: is_early, situation, state, verdict, kind. */
export const VERDICTS: Prisma.Sql = Prisma.sql`
  ${valuesOf(ROWS)} AS verdict (is_early, situation, state, verdict, kind)`;

/** The tax identifiers that may name the supplier of a pair. */
const isSupplier = (party: Prisma.Sql) => Prisma.sql`
  (${isAgent(party, Prisma.sql`payable.supplier_tax_id`)} OR ${isAgent(party, TITLE_TAX_ID)})`;

/** When a payable was stated last. A payable that SQL wrote is stated by each later statement. */
export const STATED_AT: Prisma.Sql = Prisma.sql`
  (CASE WHEN payable.import_id IS NULL
     THEN greatest(payable.stated_at,
                   (SELECT max(started_at) FROM conciliation.erp_payable_import WHERE kind = 'sql'))
     ELSE payable.stated_at END)`;

/**
 * Whether the newest posted line of a title `title`, or a line after it without an answer, asks that `party` be paid:
 * the agent of a title that was restated since.
 * @param isEarlier whether the lines `asked` before the newest posted one count too
 */
const isAskedAgent = (party: Prisma.Sql, isEarlier = Prisma.sql`false`) => Prisma.sql`
  EXISTS (
    SELECT FROM (
      SELECT has_content, state, version, max(version) FILTER (WHERE state = 'posted') OVER () AS posted,
             max(state_at) FILTER (WHERE state = 'posted') OVER () AS posted_at,
             ${taxIdOf('line.financial_agent_identification')} AS agent
      FROM conciliation.booking_version AS line
      WHERE line.date = title.accepted_date AND line.identity_hash = title.identity_hash
        AND line.title_id = title.id AND line.state IN ('released', 'posted', 'superseded')
    ) AS asked
    WHERE has_content AND (state <> 'superseded' AND (version >= posted) IS NOT FALSE OR ${isEarlier})
      AND ${isAgent(party, Prisma.sql`asked.agent`)})`;

/**
 * Who is to be paid, of a pair `title`, `payable`: supplier, agent, other. Null: the ERP states no payee. Until the ERP
 * states the payable later than the receipt, the agent of the line before is to be paid.
 */
export const PAYEE: Prisma.Sql = Prisma.sql`
  CASE WHEN payable.payee IS NULL THEN NULL
       WHEN ${isSupplier(Prisma.sql`payable.payee`)} THEN 'supplier'
       WHEN ${isAgent(Prisma.sql`payable.payee`, TITLE_AGENT)} THEN 'agent'
       WHEN ${isAskedAgent(Prisma.sql`payable.payee`, Prisma.sql`asked.posted_at >= ${STATED_AT}`)} THEN 'agent'
       ELSE 'other' END`;

/** Who was paid. A payee that is the supplier's own says nothing about that. */
const PAID_TO = Prisma.sql`coalesce(payable.paid_to, CASE WHEN said.payee <> 'supplier' THEN payable.payee END)`;

/** Whether the ERP states that it has paid a payable `payable` to another party than the agent of `title`. */
export const IS_PAID_TO_OTHER: Prisma.Sql = Prisma.sql`
  (payable.paid_to IS NOT NULL AND NOT ${isAgent(Prisma.sql`payable.paid_to`, TITLE_AGENT)}
   AND NOT ${isAskedAgent(Prisma.sql`payable.paid_to`)})`;

/** True for a row `payable` that is to be paid to the supplier as the ERP entered it. */
export const IS_PLAIN: Prisma.Sql = Prisma.sql`
  (payable.status = 'open' AND payable.closed_at IS NULL AND payable.payee IS NULL AND payable.open_value <> 0
   AND payable.settled_as IS NULL AND payable.settled_by IS NULL
   AND (payable.total_value = payable.open_value) IS NOT FALSE)`;

/**
 * The situation of a pair `title`, `payable`, with what follows from it and from the bookings, `said`:
 * - `payee`: `PAYEE`
 * - `is_own`: `settled_by` names a booking of the payable's titles
 * - `is_reversed`: the booking of `settled_by` is reversed, and the ERP stated the key before the reversal
 * - `is_gone`: a complete snapshot lacked the payable. Not where a booking on it was reversed since the newest snapshot
 * - `is_part`: less is open than its titles still ask for, because a part was paid
 */
export const SITUATION: Prisma.Sql = Prisma.sql`
  CASE WHEN payable.settled_by IS NOT NULL
         THEN CASE WHEN NOT said.is_own AND NOT said.is_reversed THEN 'settled_elsewhere'
                   -- A receiver that the ERP states contradicts the key, which the posting program may keep too long.
                   WHEN ${IS_PAID_TO_OTHER} THEN 'paid_supplier'
                   WHEN said.payee = 'other' THEN 'other_payee'
                   WHEN NOT said.is_own AND said.is_gone THEN 'gone'
                   ELSE 'settled_here' END
       WHEN payable.settled_as = 'assignment' THEN 'assigned'
       WHEN payable.settled_as = 'offset' THEN 'offset'
       WHEN payable.status = 'cancelled' THEN 'cancelled'
       WHEN payable.status = 'paid' OR payable.settled_as = 'payment'
            OR payable.open_value = 0 AND payable.closed_at IS NULL
         THEN CASE WHEN ${PAID_TO} IS NULL
                        -- An assignment pays nobody, so a payment after it is no result of the line that assigned the payable.
                        AND NOT (payable.was_assigned AND payable.settled_as IS NOT DISTINCT FROM 'payment') THEN 'paid'
                   WHEN ${isAgent(PAID_TO, TITLE_AGENT)} AND NOT ${isSupplier(PAID_TO)} THEN 'paid_agent'
                   ELSE 'paid_supplier' END
       WHEN said.payee = 'other' THEN 'other_payee'
       WHEN said.is_gone THEN 'gone'
       WHEN payable.closed_at IS NOT NULL THEN 'settled_here'
       WHEN said.is_part THEN CASE WHEN said.payee = 'agent' THEN 'part_agent' ELSE 'part' END
       WHEN said.payee = 'agent' THEN 'agent_payee'
       ELSE 'open' END`;
