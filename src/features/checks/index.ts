import type { Feature } from '../../console/shell/console-parts.ts';
import { addFindingsApi } from './pages/api.ts';
import { addFindingsRoutes } from './pages/findings-routes.tsx';

export const checks: Feature = {
  name: 'checks',
  pages: [addFindingsRoutes],
  api: [addFindingsApi],
};
