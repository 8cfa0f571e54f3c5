import type { Feature } from '../../console/shell/console-parts.ts';
import { addSweepApi } from './pages/api.ts';
import { planDifferences } from './plan-differences.sql.ts';

export const sweep: Feature = {
  name: 'sweep',
  engine: {
    inPlanning: async (tx, { isScheduled }) => (isScheduled ? planDifferences(tx) : 0),
  },
  api: [addSweepApi],
};
