/** The tolerances that a person sets, and what others would change. */
import type { Database } from '../../base/database/database.ts';
import { DEFAULT_RULES } from './candidates.sql.ts';
import { decide } from './confirmations.sql.ts';
import type { MatchDecision } from './match-decisions.sql.ts';
import { type BrokenTitle, readBrokenTitles } from './proposals.sql.ts';
import { matchTitles, type RunRequest, TRANSACTION } from './run-matching.sql.ts';

export type MatchingRules = typeof DEFAULT_RULES;

/** Returns the rules that count. */
export async function readRules({ prisma }: Database): Promise<MatchingRules> {
  const row = await prisma.matchingRule.findFirst({ orderBy: { id: 'desc' } });
  if (row === null) return DEFAULT_RULES;
  return { dueDays: row.dueDays, valueTolerance: row.valueTolerance.toFixed(2) };
}

/** Records rules. The next run of the matching uses them. */
export async function setRules(
  database: Database,
  rules: MatchingRules,
  decision: MatchDecision,
): Promise<void> {
  const { by: confirmedBy, reason } = decision;
  await decide(database, 'rules.confirm', decision, async (tx) => {
    const { id } = await tx.matchingRule.create({ data: { ...rules, confirmedBy, reason } });
    return [id];
  });
}

export interface RuleEffect extends BrokenTitle {
  /**
   * closes: the program matches the title. proposed: a person can confirm a proposal. ambiguous: its match ends, or its
   * first proposal is not clear.
   */
  readonly effect: 'closes' | 'proposed' | 'ambiguous';
}

const UNDONE = new Error('a dry run changes nothing');

/** Returns what rules would change: runs the matching with them in a transaction that is rolled back. */
export async function tryRules(
  { prisma }: Database,
  rules: MatchingRules,
  request: RunRequest,
): Promise<RuleEffect[]> {
  const effects: RuleEffect[] = [];
  const run = prisma.$transaction(async (tx) => {
    // What has changed since the newest run is no effect of the rules.
    await matchTitles(tx, request);
    const before = await readBrokenTitles(tx);
    await tx.matchingRule.create({ data: { ...rules, confirmedBy: request.by, reason: '' } });
    await matchTitles(tx, request);
    effects.push(...effectsOf(before, await readBrokenTitles(tx)));
    throw UNDONE;
  }, TRANSACTION);
  await run.catch((error: unknown) => {
    if (error !== UNDONE) throw error;
  });
  return effects;
}

function effectsOf(before: readonly BrokenTitle[], after: readonly BrokenTitle[]): RuleEffect[] {
  const known = new Map(before.map((title) => [title.titleId, title]));
  const broken = new Set(after.map(({ titleId }) => titleId));
  return [
    ...before
      .filter(({ titleId }) => !broken.has(titleId))
      .map((title) => ({ ...title, effect: 'closes' as const })),
    ...after.flatMap((title) => {
      const was = known.get(title.titleId);
      if (was !== undefined && was.isClear === title.isClear) return [];
      const isProposed = was !== undefined && title.isClear === true;
      return [{ ...title, effect: isProposed ? ('proposed' as const) : ('ambiguous' as const) }];
    }),
  ];
}
