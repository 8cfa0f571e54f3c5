import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { type AcceptedTitle, syntheticPayables } from '../../demo/synthetic-payables.ts';
import { type BreakCount, listBreaks } from '../../features/matching/breaks.sql.ts';
import { checkPayables } from '../../features/matching/payables/payable-file.ts';
import {
  addPayables,
  beginImport,
  endImport,
  PAYABLES_AT_ONCE,
} from '../../features/matching/payables/payable-import.sql.ts';
import { runMatching } from '../../features/matching/run-matching.sql.ts';

const TRANSACTION = { timeout: 600_000, maxWait: 30_000 };

/** How far the titles of the demo are matched. */
export interface DemoMatching {
  readonly titles: number;
  readonly matched: number;
  readonly breaks: readonly BreakCount[];
}

/** Imports a snapshot of the made-up ERP for all titles, and matches the titles with the payables. */
export async function importDemoPayables(
  database: Database,
  run: { readonly by: string; readonly bookingsFrom: CivilDate },
): Promise<DemoMatching> {
  const { by } = run;
  const titles = await database.prisma.$queryRaw<(AcceptedTitle & { dueDate: CivilDate })[]>`
    SELECT order_uid AS "orderUid", occurrence, provider_external_id AS supplier,
           anticipated_due_date::text AS "dueDate", original_value::text AS value
    FROM conciliation.title ORDER BY id`;
  const payables = syntheticPayables(titles);
  await database.prisma.$transaction(async (tx) => {
    const importId = await beginImport(tx, { kind: 'snapshot', by });
    for (let at = 0; at < payables.length; at += PAYABLES_AT_ONCE) {
      await addPayables(tx, importId, [
        ...checkPayables(payables.slice(at, at + PAYABLES_AT_ONCE)),
      ]);
    }
    await endImport(tx, importId, { by, announced: payables.length });
  }, TRANSACTION);
  await runMatching(database, run);
  const all = { kind: null, date: null, supplier: null, offset: 0, limit: 0 };
  const { counts } = await listBreaks(database, all);
  return {
    titles: titles.length,
    matched: await database.prisma.titleMatch.count({ where: { endedAt: null, titlePart: 0 } }),
    breaks: counts,
  };
}
