import type { Database } from '../../src/database/database.ts';
import { runMatching } from '../../src/matching/run-matching.sql.ts';
import { DAY, type PullWorld } from './pull-world.ts';
import { titleText } from './titles.ts';

/** A title of the day. */
export interface DayTitle {
  readonly uid: string;
  readonly value: string;
  readonly dueDate?: string;
}

/** Makes these titles the titles of the day. */
export async function pullTitles(world: PullWorld, titles: readonly DayTitle[]): Promise<void> {
  world.sandbox.setDayTexts(
    DAY,
    titles.map(({ dueDate = '2026-06-30', ...title }) => titleText({ ...title, dueDate })),
  );
  await world.pull(DAY, { withdrawalLimitPercent: 100 });
}

/** Removes payables, matches and decisions. */
export async function clearMatching({ prisma }: Database): Promise<void> {
  await prisma.$executeRaw`
    TRUNCATE conciliation.title_match, conciliation.match_run, conciliation.break_decision,
             conciliation.erp_payable, conciliation.erp_payable_reject, conciliation.erp_payable_import`;
}

export const match = (database: Database) => runMatching(database, { by: 'test' });

/** The matches that last, as "order=key rule". */
export async function listMatches({ prisma }: Database): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ name: string }[]>`
    SELECT order_uid || '=' || erp_key || ' ' || rule AS name FROM conciliation.title_match
    JOIN conciliation.title ON title.id = title_id WHERE ended_at IS NULL`;
  return rows.map(({ name }) => name).sort();
}
