import type { Feature } from '../../console/shell/console-parts.ts';
import { PROVIDER } from './pages/provider-page.tsx';
import { SUPPLIERS } from './pages/providers-page.tsx';

export const providers: Feature = {
  name: 'providers',
  pages: [PROVIDER],
  lists: [SUPPLIERS],
};
