import type { Feature } from '../../console/shell/console-parts.ts';
import { addScheduleApi } from './pages/api.ts';
import { addScheduleRoutes } from './pages/schedule-routes.tsx';

export const schedule: Feature = {
  name: 'schedule',
  pages: [addScheduleRoutes],
  api: [addScheduleApi],
};
