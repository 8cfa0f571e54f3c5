import type { Feature } from '../../console/shell/console-parts.ts';
import { REVIEW_API } from './pages/api.ts';
import { DAY_ACTIONS } from './pages/day-actions.ts';
import { DAY } from './pages/day-page.tsx';
import { EVIDENCE, MONTH, MONTHS, SEAL_MONTH } from './pages/months-pages.tsx';
import { RELEASE, RELEASE_PAGE } from './pages/release-page.tsx';
import { CHANGED_FIELDS, RESTATED } from './pages/restated.tsx';
import { SIGN_DAYS, SIGN_OFFS } from './pages/sign-offs.tsx';

export const review: Feature = {
  name: 'review',
  pages: [DAY, RELEASE_PAGE, MONTH],
  lists: [RESTATED, SIGN_OFFS, MONTHS],
  actions: [...DAY_ACTIONS, CHANGED_FIELDS, SIGN_DAYS, RELEASE, SEAL_MONTH, EVIDENCE],
  api: REVIEW_API,
};
