import type { Feature } from '../../console/shell/console-parts.ts';
import { addMatchingApi } from './pages/api-matching.ts';
import { BREAK, BREAK_ACTIONS } from './pages/break-page.tsx';
import { BREAKS } from './pages/breaks-page.tsx';
import { COMPANIES, COMPANY_ACTIONS } from './pages/companies-page.tsx';
import { UNDO_MATCH } from './pages/match-cards.tsx';

export const matching: Feature = {
  name: 'matching',
  pages: [BREAK, COMPANIES],
  lists: [BREAKS],
  actions: [...BREAK_ACTIONS, ...COMPANY_ACTIONS, UNDO_MATCH],
  api: [addMatchingApi],
};
