import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { CivilDate } from '../../domain/business-day.ts';
import { InputError } from '../../runtime/errors.ts';
import { dateOfPath, idOfPath } from '../shell/path-parameters.ts';
import { ErrorAnswer } from './api-schemas.ts';

const DEFAULT_LIMIT = 100;

/** The description of a route in the API's document, with the schemas that check its input. */
export function describe(
  tag: string,
  summary: string,
  schema: {
    readonly params?: TSchema;
    readonly querystring?: TSchema;
    readonly body?: TSchema;
    readonly status?: number;
    readonly answer: TSchema;
  },
) {
  const { status = 200, answer, ...input } = schema;
  const failures = Object.fromEntries(
    [400, 401, 403, 404].map((code) => [code, { description: 'Refused.', ...ErrorAnswer }]),
  );
  return {
    schema: {
      tags: [tag],
      summary,
      ...input,
      response: { [status]: { description: 'Done.', ...answer }, ...failures },
    },
  };
}

/**
 * Returns the date of the path.
 * @throws InputError when it is not a calendar date
 */
export function requireDate(request: FastifyRequest): CivilDate {
  const date = dateOfPath(request);
  if (date === null) throw new InputError('date: expected a calendar date as YYYY-MM-DD');
  return date;
}

/**
 * Returns the id of the path.
 * @throws InputError when it is not a number
 */
export function requireId(request: FastifyRequest): bigint {
  const text = numberOf(request, 'id', request.params);
  const id = text === null ? idOfPath(request) : BigInt(text);
  if (id === null) throw new InputError('id: expected a number');
  return id;
}

/** Returns a parameter that the schema has converted to a number. */
export function numberOf(
  request: FastifyRequest,
  name: string,
  source: unknown = request.query,
): number | null {
  const value: unknown =
    typeof source === 'object' && source !== null ? Reflect.get(source, name) : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

export function limitOf(request: FastifyRequest): number {
  return numberOf(request, 'limit') ?? DEFAULT_LIMIT;
}
