import type { Database } from '../../src/database/database.ts';
import { runMatching } from '../../src/matching/run-matching.sql.ts';
import { DAY, type PullWorld } from './pull-world.ts';
import { titleText } from './titles.ts';

/** The buyer of `titleText`. */
export const TITLE_BUYER = '90021382000122';
/** The financial agent of `titleText`. */
export const TITLE_AGENT = '11222333000181';

/** A title of the day. */
export interface DayTitle {
  readonly uid: string;
  readonly value: string;
  readonly dueDate?: string;
  /** As the platform writes it. */
  readonly buyer?: string;
}

/** Makes these titles the titles of the day. */
export async function pullTitles(world: PullWorld, titles: readonly DayTitle[]): Promise<void> {
  world.sandbox.setDayTexts(
    DAY,
    titles.map(({ dueDate = '2026-06-30', buyer = TITLE_BUYER, ...title }) =>
      titleText({ ...title, dueDate }).replace(TITLE_BUYER, buyer),
    ),
  );
  await world.pull(DAY, { withdrawalLimitPercent: 100 });
}

/** Removes payables, matches, decisions, seals and lines. */
export async function clearMatching({ prisma }: Database): Promise<void> {
  await prisma.$executeRaw`
    TRUNCATE conciliation.title_match, conciliation.match_run, conciliation.break_decision,
             conciliation.company_buyer, conciliation.party_equivalent,
             conciliation.erp_payable, conciliation.erp_payable_reject, conciliation.erp_payable_import`;
  await prisma.$transaction(async (tx) => {
    // A trigger refuses the removal of lines.
    await tx.$executeRaw`SELECT set_config('session_replication_role', 'replica', true)`;
    await tx.$executeRaw`TRUNCATE conciliation.sign_off, conciliation.booking_batch CASCADE`;
  });
}

export const match = (database: Database) => runMatching(database, { by: 'test' });

/** The matches that last, as "order=key rule". */
export async function listMatches({ prisma }: Database): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ name: string }[]>`
    SELECT order_uid || '=' || erp_key || ' ' || rule AS name FROM conciliation.title_match
    JOIN conciliation.title ON title.id = title_id WHERE ended_at IS NULL`;
  return rows.map(({ name }) => name).sort();
}
