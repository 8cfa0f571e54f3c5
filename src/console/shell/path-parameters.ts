import type { FastifyRequest } from 'fastify';
import { InputError } from '../../base/runtime/errors.ts';
import { type CivilDate, parseCivilDate } from '../../base/values/business-day.ts';
import { textParameter } from './page-context.ts';

export const MAX_REASON_LENGTH = 500;

/** Returns the date of `/days/:date`; null: the page does not exist. */
export function dateOfPath(request: FastifyRequest): CivilDate | null {
  const text = textParameter(request.params, 'date');
  const date = text === null ? null : parseCivilDate(text);
  // Pages link to the neighbours of a date, which the first and the last date of the calendar lack.
  return date !== null && date > '0001-12-31' && date < '9999-01-01' ? date : null;
}

/** Returns the number of `/…/:id`; null: it is not a number. */
export function idOfPath(request: FastifyRequest): bigint | null {
  const text = textParameter(request.params, 'id');
  return text !== null && /^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : null;
}

/** @throws InputError when the reason is missing or too long */
export function requireReason(body: unknown): string {
  const reason = optionalReason(body);
  if (reason === null) {
    throw new InputError('a reason is needed', { context: { fault: 'reason_missing' } });
  }
  return reason;
}

/** @throws InputError when the reason is too long */
function optionalReason(body: unknown): string | null {
  const reason = textParameter(body, 'reason');
  if (reason !== null && reason.length > MAX_REASON_LENGTH) {
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
