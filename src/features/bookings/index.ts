import type { Feature } from '../../console/shell/console-parts.ts';
import { addBookingsApi } from './pages/api-bookings.ts';
import { addBookingsRoutes } from './pages/bookings-routes.tsx';

export const bookings: Feature = {
  name: 'bookings',
  pages: [addBookingsRoutes],
  api: [addBookingsApi],
};
