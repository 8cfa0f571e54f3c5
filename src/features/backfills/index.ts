import type { Feature } from '../../console/shell/console-parts.ts';
import { planBackfills } from './backfill-ledger.sql.ts';
import { addBackfillsApi, BACKFILL_ACTIONS, BACKFILLS } from './pages/backfills.tsx';

export const backfills: Feature = {
  name: 'backfills',
  engine: {
    inPlanning: (tx, { maxOpenBackfillPulls }) => planBackfills(tx, maxOpenBackfillPulls),
  },
  actions: BACKFILL_ACTIONS,
  lists: [BACKFILLS],
  api: [addBackfillsApi],
};
