import type { Feature } from '../../console/shell/console-parts.ts';
import { addBackfillsApi } from './pages/api.ts';
import { addBackfillRoutes } from './pages/backfill-routes.tsx';

export const backfills: Feature = {
  name: 'backfills',
  pages: [addBackfillRoutes],
  api: [addBackfillsApi],
};
