import type { Feature } from '../../console/shell/console-parts.ts';
import { planBackfills } from './backfill-ledger.sql.ts';
import { BACKFILL_ACTIONS, BACKFILLS, BACKFILLS_API } from './pages/backfills.tsx';

export const backfills: Feature = {
  name: 'backfills',
  engine: {
    inPlanning: (tx, { maxOpenBackfillPulls }) => planBackfills(tx, maxOpenBackfillPulls),
  },
  actions: BACKFILL_ACTIONS,
  lists: [BACKFILLS],
  api: BACKFILLS_API,
};
