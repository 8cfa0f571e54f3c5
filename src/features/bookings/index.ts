import type { Feature } from '../../console/shell/console-parts.ts';
import { addBookingsApi } from './pages/api-bookings.ts';
import { LINES } from './pages/bookings.tsx';
import { addBookingsRoutes } from './pages/bookings-routes.tsx';

export const bookings: Feature = {
  name: 'bookings',
  pages: [addBookingsRoutes],
  lists: [LINES],
  api: [addBookingsApi],
};
