import type { FastifyRequest } from 'fastify';
import { InputError } from '../../base/runtime/errors.ts';
import { textParameter } from './page-context.ts';

export const MAX_REASON_LENGTH = 500;

/** @throws InputError when the reason is missing or too long */
export function requireReason(body: unknown): string {
  const reason = textParameter(body, 'reason');
  if (reason === null) {
    throw new InputError('a reason is needed', { context: { fault: 'reason_missing' } });
  }
  if (reason.length > MAX_REASON_LENGTH) {
    throw new InputError(`a reason has at most ${MAX_REASON_LENGTH} characters`, {
      context: { fault: 'reason_long', max: MAX_REASON_LENGTH },
    });
  }
  return reason;
}

/** Returns the actor for the audit log. The guard has refused requests without one. */
export function actorOf({ principal }: FastifyRequest): string {
  if (principal === null) throw new Error('this route has no guard');
  return principal.name;
}
