/**
 * The rights for each route, which the route states where it is added. A route without them cannot be added. A user or
 * key without the role is refused before the handler runs.
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

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Present on every route: the guard refuses others. */
    access?: RouteAccess;
  }
}

export const EVERYBODY: readonly ConsoleRole[] = ['viewer', 'reviewer', 'operator', 'admin'];
/** Roles that see identifiers, and acknowledge what is outside the interface. */
export const STAFF: readonly ConsoleRole[] = ['reviewer', 'operator', 'admin'];
export const OPERATE: readonly ConsoleRole[] = ['operator', 'admin'];
export const ADMINISTER: readonly ConsoleRole[] = ['admin'];
/** An administrator manages and decides nothing about money. */
export const DECIDE: readonly ConsoleRole[] = ['reviewer', 'operator'];
export const REVIEW: readonly ConsoleRole[] = ['reviewer'];

/** The options of a route. */
export const withAccess = (access: RouteAccess) => ({ config: { access } });

/** Options of a route for monitoring systems, without a cookie. */
export const forMonitoring = withAccess({ who: 'anyone', scope: null });
/** Options of a route that needs no sign-in. */
export const forVisitors = withAccess({ who: 'visitor', scope: null });
/** Options of a route for signed-in people. Keys are refused. */
export const forPeople = (who: readonly ConsoleRole[]) => withAccess({ who, scope: null });

/** By `METHOD path`. Every server of this process has the same routes. */
const known = new Map<string, RouteAccess>();

/**
 * Notes the rights of a route that is being added.
 * @throws Error without rights
 */
export function addAccess(method: string, url: string, access: RouteAccess | undefined): void {
  if (access === undefined) throw new Error(`${method} ${url} states no rights`);
  known.set(`${method} ${url}`, access);
}

export function mayUse(role: ConsoleRole, method: 'GET' | 'POST', url: string): boolean {
  const who = known.get(`${method} ${url}`)?.who;
  return Array.isArray(who) && who.includes(role);
}

/** Returns every route as `METHOD path`, with its rights. */
export const knownAccess = (): Readonly<Record<string, RouteAccess>> =>
  Object.fromEntries([...known].filter(([route]) => !route.startsWith('HEAD ')));
