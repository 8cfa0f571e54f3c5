import type { Feature } from '../../console/shell/console-parts.ts';
import { addHolidayRoutes } from './pages/holidays-page.tsx';

export const calendar: Feature = {
  name: 'calendar',
  pages: [addHolidayRoutes],
};
