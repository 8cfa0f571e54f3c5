import type { FastifyRequest } from 'fastify';
import { type CivilDate, parseCivilDate } from '../../domain/business-day.ts';
import type { Actor } from '../../domain/person.ts';
import { InputError } from '../../runtime/errors.ts';
import { textParameter } from './page-context.ts';

const MAX_REASON_LENGTH = 500;

/** The date of `/days/:date`; null where it is none, which is a page that does not exist. */
export function dateOfPath(request: FastifyRequest): CivilDate | null {
  const text = textParameter(request.params, 'date');
  const date = text === null ? null : parseCivilDate(text);
  // Calendars have neighbours; the first and last date of all would have none.
  return date !== null && date > '0001-12-31' && date < '9999-01-01' ? date : null;
}

/** The number of `/…/:id`; null where it is none. */
export function idOfPath(request: FastifyRequest): bigint | null {
  const text = textParameter(request.params, 'id');
  return text !== null && /^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : null;
}

/** @throws InputError where there is none, or it is a book */
export function requireReason(body: unknown): string {
  const reason = optionalReason(body);
  if (reason === null) throw new InputError('a reason is needed');
  return reason;
}

/** @throws InputError where it is a book */
export function optionalReason(body: unknown): string | null {
  const reason = textParameter(body, 'reason');
  if (reason !== null && reason.length > MAX_REASON_LENGTH) {
    throw new InputError(`a reason has at most ${MAX_REASON_LENGTH} characters`);
  }
  return reason;
}

/** Who acts, as it stands in the audit log; the guard let nobody else this far. */
export function actorOf(request: FastifyRequest): string {
  return authorOf(request).by;
}

/** The actor with every person that can be the actor, for actions that need two people. */
export function authorOf({ principal }: FastifyRequest): Required<Actor> {
  if (principal === null) throw new Error('this route has no guard');
  return { by: principal.name, countsAs: principal.countsAs };
}
