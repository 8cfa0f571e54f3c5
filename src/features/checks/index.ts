import type { Feature } from '../../console/shell/console-parts.ts';
import { startCheckLoop } from './check-day.sql.ts';
import { FINDINGS, RESOLVE_FINDINGS } from './pages/findings.tsx';
import { findImplausible } from './plausibility.sql.ts';

export const checks: Feature = {
  name: 'checks',
  actions: [RESOLVE_FINDINGS],
  lists: [FINDINGS],
  engine: { inDecision: findImplausible },
  loops: (parts) => [startCheckLoop(parts)],
};
