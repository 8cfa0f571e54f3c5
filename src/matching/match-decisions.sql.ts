import type { Decision } from '../audit/audit.ts';
import { recordAudit } from '../audit/audit.ts';
import type { Database, Transaction } from '../database/database.ts';
import { takeLock } from '../database/program-lock.sql.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { InputError } from '../runtime/errors.ts';
import { type BreakKey, readBreak } from './breaks.sql.ts';
import { PAYABLE_GROUND, RULE_VERSION, TITLE_GROUND } from './candidates.sql.ts';

/** The reasons why a decision about matches is refused. */
const MATCH_FAULTS = {
  match_title: 'the title is not current, or has a match',
  match_payable: 'the payable is not open, or has a match',
  match_gone: 'the match does not exist, or has ended',
  run_gone: 'the run does not exist, or is undone',
  break_changed: 'the break has changed since it was shown; look at it again',
} as const;
type MatchFault = keyof typeof MATCH_FAULTS;

const refuse = (fault: MatchFault) => new InputError(MATCH_FAULTS[fault], { context: { fault } });

/**
 * Matches a title with a payable. The program never changes such a match.
 * @returns the number of the match
 * @throws InputError when one of the two has a match, the title is withdrawn or the payable is not open
 */
export function matchByPerson(
  database: Database,
  { titleId, erpKey }: { readonly titleId: bigint; readonly erpKey: string },
  { by, reason }: Decision,
): Promise<bigint> {
  return database.prisma.$transaction(async (tx) => {
    await takeLock(tx, 'matching');
    const [title] = await tx.$queryRaw<[{ date: CivilDate; ground: string }?]>`
      SELECT accepted_date::text AS date, ${TITLE_GROUND}::text AS ground
      FROM conciliation.title AS title
      WHERE id = ${titleId} AND status = 'current'
        AND NOT EXISTS (SELECT FROM conciliation.title_payable WHERE title_id = title.id)`;
    if (title === undefined) throw refuse('match_title');
    const [payable] = await tx.$queryRaw<[{ ground: string }?]>`
      SELECT ${PAYABLE_GROUND}::text AS ground FROM conciliation.erp_payable AS payable
      WHERE erp_key = ${erpKey} AND status = 'open' AND closed_at IS NULL
        AND NOT EXISTS (SELECT FROM conciliation.title_payable WHERE erp_key = payable.erp_key)`;
    if (payable === undefined) throw refuse('match_payable');
    const { id } = await tx.titleMatch.create({
      data: {
        titleId,
        erpKey,
        rule: 'person',
        ruleVersion: RULE_VERSION,
        madeBy: by,
        reason,
        titleGround: title.ground,
        erpGround: payable.ground,
      },
    });
    await forgetUrgent(tx);
    await recordAudit(tx, {
      actor: by,
      action: 'match.make',
      date: title.date,
      reason,
      details: { matchId: Number(id), titleId: Number(titleId) },
    });
    return id;
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
  { by, reason }: Decision,
): Promise<bigint> {
  return database.prisma.$transaction(async (tx) => {
    await takeLock(tx, 'matching');
    const ended = await tx.$queryRaw<{ titleId: bigint; date: CivilDate | null }[]>`
      UPDATE conciliation.title_match AS match
      SET ended_at = clock_timestamp(), ended_by = ${by}, end_reason = ${reason}
      FROM conciliation.title_match AS named
      WHERE named.id = ${matchId} AND match.ended_at IS NULL
        AND (match.id = named.id OR match.sum_id = named.sum_id)
      RETURNING match.title_id AS "titleId",
        (SELECT accepted_date::text FROM conciliation.title WHERE id = match.title_id) AS date`;
    const match = ended.toSorted((a, b) => Number(a.titleId - b.titleId))[0];
    if (match === undefined) throw refuse('match_gone');
    await forgetUrgent(tx);
    await recordAudit(tx, {
      actor: by,
      action: 'match.undo',
      date: match.date,
      reason,
      details: { matchId: Number(matchId), titleId: Number(match.titleId) },
    });
    return match.titleId;
  });
}

/**
 * Ends the matches of a run that last.
 * @returns their number
 * @throws InputError when the run does not exist or is undone
 */
export function undoRun(
  database: Database,
  runId: bigint,
  { by, reason }: Decision,
): Promise<number> {
  return database.prisma.$transaction(
    async (tx) => {
      await takeLock(tx, 'matching');
      const { count } = await tx.matchRun.updateMany({
        where: { id: runId, undoneAt: null },
        data: { undoneAt: await clockOf(tx), undoneBy: by, undoReason: reason },
      });
      if (count === 0) throw refuse('run_gone');
      const [{ undone }] = await tx.$queryRaw<[{ undone: number }]>`
        WITH ended AS (
          UPDATE conciliation.title_match
          SET ended_at = clock_timestamp(), ended_by = ${by}, end_reason = ${reason}
          WHERE run_id = ${runId} AND ended_at IS NULL RETURNING id, sum_id
        )
        SELECT count(DISTINCT coalesce(sum_id, id))::int AS undone FROM ended`;
      await forgetUrgent(tx);
      await recordAudit(tx, {
        actor: by,
        action: 'match.undo_run',
        reason,
        details: { runId: Number(runId), matches: undone },
      });
      return undone;
    },
    { timeout: 120_000 },
  );
}

async function clockOf(tx: Transaction): Promise<Date> {
  const [{ now }] = await tx.$queryRaw<[{ now: Date }]>`SELECT clock_timestamp() AS now`;
  return now;
}

/**
 * Records that a person has resolved a break. The decision counts while both sides stay as they are.
 * @param seenGround `Break.ground` as the person saw it
 * @throws InputError when the break does not exist or has changed
 */
export function resolveBreak(
  database: Database,
  { seenGround, ...key }: BreakKey & { readonly seenGround: string },
  { by, reason }: Decision,
): Promise<void> {
  return database.prisma.$transaction(
    async (tx) => {
      await takeLock(tx, 'matching');
      const found = await readBreak({ prisma: tx } as Pick<Database, 'prisma'>, key);
      if (found === null || found.ground !== seenGround) throw refuse('break_changed');
      const { kind, titleId, erpKey } = key;
      await tx.breakDecision.create({
        data: { kind, titleId, erpKey, ground: found.ground, decidedBy: by, reason },
      });
      await forgetUrgent(tx);
      await recordAudit(tx, {
        actor: by,
        action: 'break.resolve',
        date: found.title?.acceptedDate ?? null,
        reason,
        details: { kind, titleId: titleId === null ? null : Number(titleId) },
      });
    },
    { timeout: 60_000 },
  );
}

/** The urgent breaks are computed again by the next run. */
async function forgetUrgent(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.match_run SET urgent_known = false
    WHERE id = (SELECT max(id) FROM conciliation.match_run)`;
}
