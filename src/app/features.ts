import type { Feature } from '../console/shell/console-parts.ts';
import { accounts } from '../features/accounts/index.ts';
import { alerts } from '../features/alerts/index.tsx';
import { backfills } from '../features/backfills/index.tsx';
import { balance } from '../features/balance/index.tsx';
import { bookings } from '../features/bookings/index.ts';
import { calendar } from '../features/calendar/index.tsx';
import { checks } from '../features/checks/index.ts';
import { disclosure } from '../features/disclosure/index.tsx';
import { fields } from '../features/fields/index.tsx';
import { home } from '../features/home/index.tsx';
import { matching } from '../features/matching/index.ts';
import { privacy } from '../features/privacy/index.ts';
import { providers } from '../features/providers/index.tsx';
import { review } from '../features/review/index.tsx';
import { schedule } from '../features/schedule/index.tsx';
import { sweep } from '../features/sweep/index.ts';
import { titles } from '../features/titles/index.tsx';
import { verify } from '../features/verify/index.ts';

/** The features, in the order of their hooks and of their routes. */
export const FEATURES: readonly Feature[] = [
  privacy,
  home,
  review,
  titles,
  fields,
  accounts,
  schedule,
  checks,
  matching,
  calendar,
  bookings,
  balance,
  disclosure,
  sweep,
  backfills,
  providers,
  alerts,
  verify,
];
