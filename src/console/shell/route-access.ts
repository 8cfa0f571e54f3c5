/**
 * The rights for each route, in one table. A route without an entry cannot be registered. A user or
 * key without the role of the entry is refused before the handler runs.
 */
import type { ConsoleRole, KeyScope } from '../../base/values/role.ts';

export interface RouteAccess {
  /**
   * anyone: monitoring systems, without a cookie. visitor: also people without a sign-in. Otherwise
   * the allowed roles.
   */
  readonly who: 'anyone' | 'visitor' | readonly ConsoleRole[];
  /** The scope that a key needs; null: keys are refused, only signed-in people may use the route. */
  readonly scope: KeyScope | null;
  /** Whether a user who has to set up a second factor first may use the route. */
  readonly isForEnrolment?: boolean;
}

/** The page to set up a second factor. */
export const SECOND_FACTOR_PATH = '/account/second-factor';

const EVERYBODY: readonly ConsoleRole[] = ['viewer', 'reviewer', 'operator', 'admin'];
/** Roles that see identifiers, and acknowledge what is outside the interface. */
const STAFF: readonly ConsoleRole[] = ['reviewer', 'operator', 'admin'];
const OPERATE: readonly ConsoleRole[] = ['operator', 'admin'];
const ADMINISTER: readonly ConsoleRole[] = ['admin'];
/** An administrator manages and decides nothing about money. */
const DECIDE: readonly ConsoleRole[] = ['reviewer', 'operator'];
const REVIEW: readonly ConsoleRole[] = ['reviewer'];

const anyone: RouteAccess = { who: 'anyone', scope: null };
const visitor: RouteAccess = { who: 'visitor', scope: null };
const people = (who: readonly ConsoleRole[]): RouteAccess => ({ who, scope: null });
const api = (who: readonly ConsoleRole[], scope: KeyScope): RouteAccess => ({ who, scope });

export const ROUTE_ACCESS: Readonly<Record<string, RouteAccess>> = {
  'GET /healthz': anyone,
  'GET /readyz': anyone,
  'GET /metrics': anyone,

  'GET /assets/:file': visitor,
  'GET /login': visitor,
  'POST /login': visitor,
  'GET /login/oidc': visitor,
  'GET /login/oidc/callback': visitor,
  'GET /link/:token': visitor,
  'POST /link/:token': visitor,
  'POST /preferences': visitor,
  'POST /logout': { ...people(EVERYBODY), isForEnrolment: true },
  'GET /logout/oidc': visitor,

  'GET /account': people(EVERYBODY),
  'POST /account/password': people(EVERYBODY),
  'POST /account/recovery-codes': people(EVERYBODY),
  'POST /account/sessions/end': people(EVERYBODY),
  [`GET ${SECOND_FACTOR_PATH}`]: { ...people(EVERYBODY), isForEnrolment: true },
  [`POST ${SECOND_FACTOR_PATH}`]: { ...people(EVERYBODY), isForEnrolment: true },
  [`POST ${SECOND_FACTOR_PATH}/remove`]: people(EVERYBODY),

  'GET /': people(EVERYBODY),
  'GET /days/:date': people(EVERYBODY),
  'GET /days/:date/titles': people(EVERYBODY),
  'GET /restated': people(EVERYBODY),
  // The export.
  'POST /restated': people(EVERYBODY),
  'GET /sign-offs': people(EVERYBODY),
  'GET /findings': people(EVERYBODY),
  'GET /months': people(EVERYBODY),
  'GET /months/:month': people(EVERYBODY),
  'GET /titles': people(EVERYBODY),
  'GET /titles/:id': people(EVERYBODY),
  'GET /schedule': people(EVERYBODY),
  'POST /schedule/export': people(EVERYBODY),
  'GET /breaks': people(EVERYBODY),
  'POST /breaks/export': people(EVERYBODY),
  'GET /break': people(EVERYBODY),
  'GET /companies': people(EVERYBODY),
  'GET /bookings': people(EVERYBODY),
  'GET /bookings/:id': people(EVERYBODY),
  // The export.
  'POST /bookings': people(EVERYBODY),
  'POST /bookings/differences/:date/export': people(EVERYBODY),
  'GET /backfills': people(EVERYBODY),
  'GET /backfills/:id': people(EVERYBODY),
  'GET /providers': people(EVERYBODY),
  // The search. A tax identifier does not belong in an address.
  'POST /providers': people(EVERYBODY),
  'GET /provider': people(EVERYBODY),
  'GET /account-changes': people(EVERYBODY),
  'GET /alerts': people(EVERYBODY),
  'GET /audit': people(EVERYBODY),
  'GET /exports': people(EVERYBODY),
  'POST /exports': people(EVERYBODY),

  'GET /sign-offs/preview': people(REVIEW),
  'POST /sign-offs': people(REVIEW),
  'POST /months/:month/seal': people(REVIEW),
  'POST /months/:month/evidence': people(STAFF),
  'POST /bookings/differences/:date': people(REVIEW),
  'POST /bookings/receipts': people(REVIEW),
  'POST /break/match': people(REVIEW),
  'POST /break/resolve': people(REVIEW),
  'POST /matches/:id/undo': people(REVIEW),
  'POST /companies': people(REVIEW),
  'POST /companies/:id/end': people(REVIEW),
  'POST /agents': people(REVIEW),
  'POST /agents/:id/end': people(REVIEW),
  'POST /days/:date/sign-off': people(REVIEW),
  'POST /days/:date/reopen': people(REVIEW),
  'POST /days/:date/accept-rejects': people(DECIDE),
  'POST /days/:date/rejects': people(STAFF),
  'POST /titles/:id': people(STAFF),
  'POST /provider': people(STAFF),
  'POST /schedule': people(STAFF),
  'POST /account-changes': people(STAFF),
  'POST /account-changes/decide': people(DECIDE),
  'POST /findings': people(DECIDE),
  'POST /drift/acknowledge': people(STAFF),
  'POST /alterations/acknowledge': people(REVIEW),

  'POST /days/:date/pull': people(OPERATE),
  'GET /pulls/:id/release': people(DECIDE),
  'POST /pulls/:id/release': people(DECIDE),
  'POST /backfills': people(OPERATE),
  'POST /backfills/:id/cancel': people(OPERATE),
  'POST /backfills/:id/resume': people(OPERATE),

  'GET /users': people(ADMINISTER),
  'POST /users': people(ADMINISTER),
  'POST /users/:name/role': people(ADMINISTER),
  'POST /users/:name/email': people(ADMINISTER),
  'POST /users/:name/link': people(ADMINISTER),
  'POST /users/:name/disable': people(ADMINISTER),
  'POST /users/:name/enable': people(ADMINISTER),
  'POST /users/:name/reset-second-factor': people(ADMINISTER),
  'POST /keys': people(ADMINISTER),
  'POST /keys/:id/revoke': people(ADMINISTER),

  'GET /api/openapi.json': api(EVERYBODY, 'read'),
  'GET /api/status': api(EVERYBODY, 'read'),
  'GET /api/days': api(EVERYBODY, 'read'),
  'GET /api/days/:date': api(EVERYBODY, 'read'),
  'GET /api/days/:date/titles': api(EVERYBODY, 'read'),
  'GET /api/days/:date/changes': api(EVERYBODY, 'read'),
  'GET /api/months': api(EVERYBODY, 'read'),
  'GET /api/months/:month': api(EVERYBODY, 'read'),
  'GET /api/months/:month/evidence': api(STAFF, 'export'),
  'GET /api/restated': api(EVERYBODY, 'read'),
  'GET /api/providers': api(EVERYBODY, 'read'),
  'GET /api/provider': api(EVERYBODY, 'read'),
  'GET /api/account-changes': api(EVERYBODY, 'read'),
  'GET /api/findings': api(EVERYBODY, 'read'),
  'GET /api/titles/:id': api(EVERYBODY, 'read'),
  'GET /api/alerts': api(EVERYBODY, 'read'),
  'GET /api/drift': api(EVERYBODY, 'read'),
  'GET /api/audit': api(EVERYBODY, 'read'),
  'GET /api/payment-schedule': api(EVERYBODY, 'read'),
  'GET /api/payment-schedule/export': api(EVERYBODY, 'export'),
  'GET /api/booking-lines': api(EVERYBODY, 'read'),
  'GET /api/booking-status': api(EVERYBODY, 'read'),
  'GET /api/waiting-titles': api(EVERYBODY, 'read'),
  // The payee is an identifier.
  'GET /api/payables-to-block': api(STAFF, 'export'),
  // The lines have identifiers, and belong to the consumer of the key.
  'GET /api/bookings': api(STAFF, 'export'),
  'POST /api/bookings/receipts': api(STAFF, 'export'),
  'GET /api/sweeps': api(EVERYBODY, 'read'),
  'GET /api/backfills': api(EVERYBODY, 'read'),
  'GET /api/backfills/:id': api(EVERYBODY, 'read'),
  'GET /api/export': api(EVERYBODY, 'export'),
  'GET /api/breaks': api(EVERYBODY, 'read'),
  'GET /api/erp-payables': api(EVERYBODY, 'read'),
  'POST /api/erp-payables': api(OPERATE, 'payables'),
  'POST /api/erp-payables/imports': api(OPERATE, 'payables'),
  'POST /api/erp-payables/imports/:id/payables': api(OPERATE, 'payables'),
  'POST /api/erp-payables/imports/:id/end': api(OPERATE, 'payables'),
  'POST /api/days/:date/pull': api(OPERATE, 'pull'),
  'POST /api/backfills': api(OPERATE, 'pull'),
  'POST /api/backfills/:id/cancel': api(OPERATE, 'pull'),
};

/** Returns null for a route without an entry. */
export function accessOf(method: string, url: string): RouteAccess | null {
  return ROUTE_ACCESS[`${method === 'HEAD' ? 'GET' : method} ${url}`] ?? null;
}

/** Whether a user of the role may use the route. */
export function mayUse(role: ConsoleRole, method: string, url: string): boolean {
  const who = accessOf(method, url)?.who;
  return Array.isArray(who) && who.includes(role);
}
