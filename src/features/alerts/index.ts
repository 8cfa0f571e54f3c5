import type { Feature } from '../../console/shell/console-parts.ts';
import { ALERT_LIST, addAlertsRoutes, addDriftApi } from './pages/alerts-page.tsx';
import { AUDIT_LIST } from './pages/audit-page.tsx';

export const alerts: Feature = {
  name: 'alerts',
  pages: [addAlertsRoutes],
  lists: [ALERT_LIST, AUDIT_LIST],
  api: [addDriftApi],
};
