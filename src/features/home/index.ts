import type { Feature } from '../../console/shell/console-parts.ts';
import { STATUS } from './pages/api.ts';
import { START } from './pages/days-page.tsx';

export const home: Feature = {
  name: 'home',
  pages: [START],
  api: [STATUS],
};
