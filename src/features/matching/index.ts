import type { Feature } from '../../console/shell/console-parts.ts';
import { addMatchingApi } from './pages/api-matching.ts';
import { addMatchingRoutes } from './pages/matching-routes.tsx';

export const matching: Feature = {
  name: 'matching',
  pages: [addMatchingRoutes],
  api: [addMatchingApi],
};
