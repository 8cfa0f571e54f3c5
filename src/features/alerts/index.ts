import type { Feature } from '../../console/shell/console-parts.ts';
import { deliveryPartsOf, startAlertLoop } from './deliveries.sql.ts';
import { ACKNOWLEDGEMENTS, ALERT_LIST } from './pages/alerts-page.tsx';
import { AUDIT_LIST } from './pages/audit-page.tsx';

export const alerts: Feature = {
  name: 'alerts',
  lists: [ALERT_LIST, AUDIT_LIST],
  actions: ACKNOWLEDGEMENTS,
  loops: (parts) => [startAlertLoop(deliveryPartsOf(parts), parts.everyMs)],
};
