import type { Feature } from '../../console/shell/console-parts.ts';
import { addReviewApi } from './pages/api.ts';
import { addDayRoutes } from './pages/day-routes.tsx';
import { MONTHS } from './pages/months-pages.tsx';
import { addMonthsRoutes } from './pages/months-routes.tsx';
import { addRestatedRoutes, RESTATED } from './pages/restated.tsx';
import { addSignOffsRoutes, SIGN_OFFS } from './pages/sign-offs.tsx';

export const review: Feature = {
  name: 'review',
  pages: [addDayRoutes, addRestatedRoutes, addSignOffsRoutes, addMonthsRoutes],
  lists: [RESTATED, SIGN_OFFS, MONTHS],
  api: [addReviewApi],
};
