import type { Feature } from '../../console/shell/console-parts.ts';
import { SCHEDULE_API } from './pages/api.ts';
import { SCHEDULE } from './pages/schedule-page.tsx';
import { writeMergedTotals } from './payee.sql.ts';

export const schedule: Feature = {
  name: 'schedule',
  engine: {
    // After those of the accounts, because the totals compare accounts in any writing.
    inOwnDate: writeMergedTotals,
  },
  lists: [SCHEDULE],
  api: SCHEDULE_API,
};
