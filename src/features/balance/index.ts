import type { Feature } from '../../console/shell/console-parts.ts';
import { BALANCE, BALANCE_API } from './pages/balance-page.tsx';

export const balance: Feature = {
  name: 'balance',
  lists: [BALANCE],
  api: BALANCE_API,
};
