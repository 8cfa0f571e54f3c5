import type { Feature } from '../../console/shell/console-parts.ts';
import { planDifferences } from './sweeps.sql.ts';

export const sweep: Feature = {
  name: 'sweep',
  engine: {
    inPlanning: async (tx, { isScheduled }) => (isScheduled ? planDifferences(tx) : 0),
  },
};
