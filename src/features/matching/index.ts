import type { Feature } from '../../console/shell/console-parts.ts';
import { addApiMatching } from './pages/api-matching.ts';
import { addApiPayables } from './pages/api-payables.ts';
import { addMatchingRoutes } from './pages/matching-routes.tsx';

export const matching: Feature = {
  name: 'matching',
  pages: [addMatchingRoutes],
  api: [addApiMatching, addApiPayables],
};
