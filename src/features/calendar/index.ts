import type { Feature } from '../../console/shell/console-parts.ts';
import { ADD_HOLIDAY, END_HOLIDAY, HOLIDAYS } from './pages/holidays-page.tsx';

export const calendar: Feature = {
  name: 'calendar',
  pages: [HOLIDAYS],
  actions: [ADD_HOLIDAY, END_HOLIDAY],
};
