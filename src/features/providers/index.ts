import type { Feature } from '../../console/shell/console-parts.ts';
import { addSuppliersApi } from './pages/api-suppliers.ts';
import { addProviderRoutes } from './pages/provider-routes.tsx';
import { SUPPLIERS } from './pages/providers-page.tsx';

export const providers: Feature = {
  name: 'providers',
  pages: [addProviderRoutes],
  lists: [SUPPLIERS],
  api: [addSuppliersApi],
};
