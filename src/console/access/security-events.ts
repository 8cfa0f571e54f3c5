import type { FastifyRequest } from 'fastify';
import type { Logger } from '../../base/runtime/logger.ts';
import { clientAddress } from '../shell/client-address.ts';

/** The names do not change, because rules of log systems match them. docs/operating.md lists them. */
const MESSAGES = {
  sign_in_succeeded: 'a user signed in',
  sign_in_failed: 'a sign-in was refused',
  sign_in_limited: 'a sign-in was refused because of too many tries',
  csrf_refused: 'a request was refused that no page of the console made',
  access_refused: 'a request was refused because of the role or the scopes',
  key_refused: 'an API key was refused',
  password_changed: 'a user changed the own password',
  second_factor_set: 'a user set up a second factor',
  second_factor_removed: 'a user removed the own second factor',
  second_factor_reset: 'an administrator removed the second factor of a user',
  recovery_codes_made: 'a user made new recovery codes',
  recovery_code_used: 'a user signed in with a recovery code',
} as const;

/** Events of ordinary work. */
const ORDINARY: ReadonlySet<string> = new Set(['sign_in_succeeded', 'second_factor_set']);

export type SecurityEvent = keyof typeof MESSAGES;

/** @param user the name of an existing user or of a key; a typed name may be a password */
export function logSecurityEvent(
  logger: Logger,
  request: FastifyRequest,
  event: SecurityEvent,
  user: string | null = null,
): void {
  logger[ORDINARY.has(event) ? 'info' : 'warn'](
    {
      event,
      address: clientAddress(request),
      user,
      method: request.method,
      route: request.routeOptions.url ?? null,
    },
    MESSAGES[event],
  );
}
