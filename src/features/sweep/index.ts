import type { Feature } from '../../console/shell/console-parts.ts';
import { addSweepApi } from './pages/api.ts';

export const sweep: Feature = {
  name: 'sweep',
  api: [addSweepApi],
};
