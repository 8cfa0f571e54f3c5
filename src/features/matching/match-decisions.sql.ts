import { type AuditAction, type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { refusal } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { OwnSealProps } from '../../console/shell/parts.tsx';
import { Prisma } from '../../generated/prisma/client.ts';
import { type Concern, readOwnSeals, requireOtherSigner } from '../review/own-seal.sql.ts';
import {
  type BreakCode,
  type BreakFilter,
  type ListedBreak,
  listBreaks,
} from './break-list.sql.ts';
import { REOPENED, writeBreaks } from './breaks.sql.ts';
import { PAYABLE_GROUND, PAYABLE_VALUE, RULE_VERSION, TITLE_GROUND } from './candidates.sql.ts';
import { type Proposal, type ProposalFilter, readProposals, seenOf } from './proposals.sql.ts';

/**
 * True for a row of `day` with its newest `seal` while a match, and the end of an urgent break, decide whether and how
 * the bookings are released, or what the ERP is asked for: it is asked again for a failed line, with the present match.
 */
export const WAITS = Prisma.sql`
  day.date >= (SELECT bookings_from FROM conciliation.booking_start)
  AND (EXISTS (SELECT FROM conciliation.booking_line AS line
               WHERE line.date = day.date AND line.state IN ('released', 'failed'))
       OR seal.ended_at IS NULL AND NOT EXISTS (
         SELECT FROM conciliation.booking_batch AS released
         WHERE released.date = day.date AND released.sign_off_id = seal.id AND released.waiting_titles = 0))`;

export const WAITING: Concern = { days: WAITS, needsPerson: true };

/** The greatest number of breaks that one decision resolves, and of matches that it makes. */
export const MAX_BREAKS_TO_RESOLVE = 1_000;

/** A person's decision about matches. The person does not sign the days of the titles off. */
export interface MatchDecision extends Decision {
  /** Whether the person who signed a day off may not decide what its bookings wait for. Absent: no. */
  readonly fourEyes?: boolean;
}

type CodedDecision = MatchDecision & { readonly code: BreakCode };
type BreakDecision = MatchDecision & { readonly code: BreakCode | typeof REOPENED };

/**
 * Matches titles with payables as a filter proposes them. The program ends such a match only with its title
 * or its payable. The difference in value is confirmed with it. The audit log has an entry for each date.
 * @param seen as the person saw it: `seenOf` a proposal, or `ProposalList.digest` of the clear ones of a kind
 * @throws InputError when it has changed, or there are more than `MAX_BREAKS_TO_RESOLVE`
 */
export function confirmProposals(
  database: Database,
  { seen, ...filter }: ProposalFilter & { readonly seen: string },
  decision: CodedDecision,
): Promise<void> {
  return exclusively(database, async (tx) => {
    const { digest, rows } = await readProposals(tx, filter, { offset: 0, limit: null });
    const isSeen = filter.kind !== null && digest === seen;
    await makeMatches(
      tx,
      rows.filter((row) => (row.isClear && isSeen) || seenOf(row) === seen),
      decision,
    );
  });
}

/** @throws InputError when there is none, there are too many, or a title or a payable is another than proposed */
export async function makeMatches(
  tx: Transaction,
  chosen: readonly Pick<Proposal, 'titleId' | 'erpKeys' | 'difference'>[],
  decision: CodedDecision,
): Promise<void> {
  const { by, code, reason } = decision;
  const wanted = chosen.flatMap(({ titleId, erpKeys, difference }) =>
    erpKeys.map((erpKey, part) => ({
      ...{ title_id: titleId, erp_key: erpKey, part },
      difference: part === 0 ? difference : '0',
    })),
  );
  const titles = await tx.$queryRaw<{ id: bigint; date: CivilDate }[]>`
    SELECT id, accepted_date::text AS date FROM conciliation.title
    WHERE id = ANY(${chosen.map(({ titleId }) => BigInt(titleId))}::bigint[]) AND status = 'current'
      AND NOT EXISTS (SELECT FROM conciliation.title_payable WHERE title_id = title.id)`;
  const made = await tx.$queryRaw<{ id: bigint; titleId: bigint }[]>`
    WITH wanted AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb)
        AS stated (title_id bigint, erp_key text, part int, difference numeric)
    ), sum AS MATERIALIZED (
      SELECT title_id, nextval('conciliation.title_match_id_seq') AS sum_id FROM (
        SELECT title_id FROM wanted GROUP BY title_id HAVING count(*) > 1) AS sums
    ), made AS (
      INSERT INTO conciliation.title_match
        (title_id, erp_key, sum_id, title_part, rule, rule_version, made_by, code, reason, title_ground, erp_ground,
         erp_value, difference)
      SELECT title_id, payable.erp_key, sum_id, part, 'person', ${RULE_VERSION}, ${by}, ${code}, ${reason}, ${TITLE_GROUND},
             ${PAYABLE_GROUND}, ${PAYABLE_VALUE},
             CASE WHEN part = 0 THEN sum(open_value) OVER (PARTITION BY title_id) - original_value ELSE 0 END
      FROM wanted JOIN conciliation.title ON title.id = title_id
      JOIN conciliation.erp_payable AS payable ON payable.erp_key = wanted.erp_key
      LEFT JOIN sum USING (title_id)
      WHERE payable.status = 'open' AND closed_at IS NULL
        AND NOT EXISTS (SELECT FROM conciliation.title_payable WHERE erp_key = payable.erp_key)
      ORDER BY title_id, part
      RETURNING id, title_id, erp_key, difference
    )
    -- A payable can change after the proposals were read.
    SELECT id, title_id AS "titleId" FROM made JOIN wanted USING (title_id, erp_key, difference)`;
  const isMade = titles.length === chosen.length && made.length === wanted.length;
  if (!isMade || made.length === 0 || chosen.length > MAX_BREAKS_TO_RESOLVE) {
    throw refusal('proposals_changed');
  }
  await writeBreaks(
    tx,
    titles.map(({ id }) => id),
  );
  const dates = titles.map(({ date }) => date);
  await recordDecision(tx, 'match.make', dates, decision, (on) => {
    const ofDate = titles.filter(({ date }) => date === on).map(({ id }) => id);
    const matchIds = made
      .filter(({ titleId }) => ofDate.includes(titleId))
      .map(({ id }) => Number(id));
    return { code, titleIds: ofDate.map(Number), matchIds };
  });
}

/**
 * Ends a match, and a sum as a whole.
 * @param matchId the number of any row of the match
 * @returns the id of its first title
 * @throws InputError when the match does not exist or has ended
 */
export function undoMatch(
  database: Database,
  matchId: bigint,
  decision: MatchDecision,
): Promise<bigint> {
  const { by, reason } = decision;
  return exclusively(database, async (tx) => {
    const ended = await tx.$queryRaw<{ titleId: bigint; date: CivilDate | null }[]>`
      UPDATE conciliation.title_match AS match
      SET ended_at = clock_timestamp(), ended_by = ${by}, end_reason = ${reason}
      FROM conciliation.title_match AS named
      WHERE named.id = ${matchId} AND match.ended_at IS NULL
        AND (match.id = named.id OR match.sum_id = named.sum_id)
      RETURNING match.title_id AS "titleId",
        (SELECT accepted_date::text FROM conciliation.title WHERE id = match.title_id) AS date`;
    const match = ended.toSorted((a, b) => Number(a.titleId - b.titleId))[0];
    if (match === undefined) throw refusal('match_gone');
    await writeBreaks(
      tx,
      ended.map(({ titleId }) => titleId),
    );
    const dates = ended.map(({ date }) => date);
    await recordDecision(tx, 'match.undo', dates, decision, {
      matchId: Number(matchId),
      titleId: Number(match.titleId),
    });
    return match.titleId;
  });
}

/** Returns the first seal that keeps a person from undoing the present match of a title; null: none. */
export async function readOwnSealOfMatch(
  tx: Transaction,
  titleId: bigint,
  by: string,
): Promise<OwnSealProps | null> {
  const titles = await tx.$queryRaw<{ date: CivilDate }[]>`
    SELECT DISTINCT accepted_date::text AS date
    FROM conciliation.title_match AS match
    JOIN conciliation.title_match AS whole ON whole.id = match.id OR whole.sum_id = match.sum_id
    JOIN conciliation.title ON title.id = whole.title_id
    WHERE match.title_id = ${titleId} AND match.ended_at IS NULL`;
  const dates = titles.map(({ date }) => date);
  return (await readOwnSeals(tx, dates, by, WAITING))[0] ?? null;
}

/**
 * Records that a person has resolved all breaks of a kind that a filter selects, or has opened them again. The decision
 * counts while both sides of a break stay as they are.
 * @param seenDigest `BreakList.digest` as the person saw it
 * @throws InputError when there is none, there are more than `MAX_BREAKS_TO_RESOLVE`, or one of them has changed
 */
export function resolveBreaks(
  database: Database,
  { seenDigest, ...filter }: BreakFilter & { readonly seenDigest: string },
  decision: BreakDecision,
): Promise<void> {
  return exclusively(database, async (tx) => {
    const { kind } = filter;
    const place = { offset: 0, limit: MAX_BREAKS_TO_RESOLVE };
    const { digest, breaks, total } = await listBreaks(tx, { ...filter, ...place });
    const isTaken = total > 0 && total <= MAX_BREAKS_TO_RESOLVE;
    if (kind === null || !isTaken || digest !== seenDigest) throw refusal('breaks_changed');
    const { by: decidedBy, reason, code } = decision;
    await tx.breakDecision.createMany({
      data: breaks.map(({ title, payable, ground }) => ({
        ...{ kind, ground, decidedBy, code, reason },
        ...{ titleId: title?.id ?? null, erpKey: payable?.erpKey ?? null },
      })),
    });
    const dateOf = ({ title }: ListedBreak) => title?.acceptedDate ?? null;
    const action = code === REOPENED ? 'break.reopen' : 'break.resolve';
    await recordDecision(tx, action, breaks.map(dateOf), decision, (date) => {
      const ofDate = breaks.filter((found) => dateOf(found) === date);
      const titleIds = ofDate.flatMap(({ title }) => title?.id ?? []);
      const grounds = ofDate.map(({ ground }) => ground);
      return { kind, code, breaks: ofDate.length, titleIds, grounds };
    });
  });
}

/** Decides while no run of the matching and no other decision changes the matches. */
export const exclusively = <Made>(
  { prisma }: Database,
  decide: (tx: Transaction) => Promise<Made>,
): Promise<Made> =>
  prisma.$transaction(
    async (tx) => {
      await takeLock(tx, 'matching');
      return decide(tx);
    },
    { timeout: 60_000 },
  );

type AuditDetails = Readonly<Record<string, unknown>>;

/**
 * Records a decision about matches for each of the dates of its titles.
 * @throws InputError when the person, or the program, has signed off a date whose bookings wait for their release or an
 *   answer
 */
export async function recordDecision(
  tx: Transaction,
  action: AuditAction,
  of: readonly (CivilDate | null)[],
  decision: MatchDecision,
  about: AuditDetails | ((date: CivilDate | null) => AuditDetails),
): Promise<void> {
  const dates = [...new Set(of)].toSorted();
  if (decision.fourEyes === true) await requireOtherSigner(tx, dates, decision.by, WAITING);
  await forgetBreaks(tx);
  const { by: actor, reason } = decision;
  for (const date of dates.length === 0 ? [null] : dates) {
    const details = typeof about === 'function' ? about(date) : about;
    await recordAudit(tx, { actor, action, date, reason, details });
  }
}

/** The breaks are counted again by the next run. */
export async function forgetBreaks(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.match_run SET breaks_known = false
    WHERE id = (SELECT max(id) FROM conciliation.match_run)`;
}
