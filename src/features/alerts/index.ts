import type { Feature } from '../../console/shell/console-parts.ts';
import { addAlertsApi } from './pages/api.ts';
import { addWatchRoutes } from './pages/watch-routes.tsx';

export const alerts: Feature = {
  name: 'alerts',
  pages: [addWatchRoutes],
  api: [addAlertsApi],
};
