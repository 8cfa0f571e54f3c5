import type { Feature } from '../../console/shell/console-parts.ts';
import { MATCHING_API } from './pages/api-matching.ts';
import { BREAK_ACTIONS, BREAKS } from './pages/breaks-page.tsx';
import { COMPANIES, COMPANY_ACTIONS } from './pages/companies-page.tsx';
import { UNDO_MATCH } from './pages/match-cards.tsx';
import { PROPOSAL_ACTIONS, PROPOSALS } from './pages/proposals-page.tsx';
import { MATCHING_RULES, SET_RULES } from './pages/rules-page.tsx';
import { startMatchingLoop } from './run-matching.sql.ts';

export const matching: Feature = {
  name: 'matching',
  pages: [COMPANIES, MATCHING_RULES],
  lists: [BREAKS, PROPOSALS],
  actions: [...BREAK_ACTIONS, ...PROPOSAL_ACTIONS, ...COMPANY_ACTIONS, UNDO_MATCH, SET_RULES],
  api: MATCHING_API,
  loops: (parts) => [startMatchingLoop(parts)],
};
