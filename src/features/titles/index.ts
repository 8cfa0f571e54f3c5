import type { Feature } from '../../console/shell/console-parts.ts';
import { addTitlesApi } from './pages/api.ts';
import { addExportRoutes } from './pages/export-routes.tsx';
import { addTitleRoutes } from './pages/title-routes.tsx';

export const titles: Feature = {
  name: 'titles',
  pages: [addTitleRoutes, addExportRoutes],
  api: [addTitlesApi],
};
