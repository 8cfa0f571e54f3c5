import type { Feature } from '../../console/shell/console-parts.ts';
import { startReleases, startWakeUps } from './booking-loops.ts';
import { BOOKINGS_API } from './pages/api-bookings.ts';
import { BOOKING } from './pages/booking-page.tsx';
import { BOOKING_ACTIONS, LINES } from './pages/bookings.tsx';

export const bookings: Feature = {
  name: 'bookings',
  pages: [BOOKING],
  actions: BOOKING_ACTIONS,
  lists: [LINES],
  api: BOOKINGS_API,
  loops: (parts) => {
    const { bookingsFrom, bookingsWebhookUrl: url } = parts.config;
    return [
      ...(bookingsFrom === null ? [] : [startReleases(bookingsFrom, parts)]),
      ...(url === null ? [] : [startWakeUps(url, parts)]),
    ];
  },
};
