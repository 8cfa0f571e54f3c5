import type { Feature } from '../../console/shell/console-parts.ts';
import { addFindingsRoutes, FINDINGS } from './pages/findings.tsx';

export const checks: Feature = {
  name: 'checks',
  pages: [addFindingsRoutes],
  lists: [FINDINGS],
};
