import type { Feature } from '../../console/shell/console-parts.ts';
import { addBalanceApi, BALANCE } from './pages/balance-page.tsx';

export const balance: Feature = {
  name: 'balance',
  lists: [BALANCE],
  api: [addBalanceApi],
};
