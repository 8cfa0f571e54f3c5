import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { InputError } from '../../base/runtime/errors.ts';
import { type TextKey, textOf } from '../../base/texts/texts.ts';
import { type CivilDate, parseCivilDate } from '../../base/values/business-day.ts';
import { textParameter } from '../shell/page-context.ts';
import type { RouteAccess } from '../shell/route-access.ts';
import { ErrorAnswer } from './schema-parts.ts';

const DEFAULT_LIMIT = 100;

const FAILURES = {
  400: 'A parameter is invalid, or the present state does not allow the action.',
  401: 'The key is missing, unknown, revoked or expired.',
  403: 'The role or the scopes of the key do not allow the request.',
  404: 'There is no such record.',
};

const TOO_LARGE = { 413: 'The body has more bytes than the limit, which the message names.' };

/** The groups of the API's document. */
export const API_TAGS = {
  status: 'The progress of the ledger.',
  days: 'The accepted dates: states, sums, sign-offs.',
  pulls: 'Attempts at one accepted date.',
  titles: 'The titles that were read from the platform, and their history.',
  payables: "The ERP's payables, with which titles are matched.",
  alerts: 'Conditions that a person has to look at.',
  backfills: 'Requests for ranges of dates.',
  bookings: 'What sign-offs release to the ERP, and what the ERP answers.',
  months: 'Months, their seals and their evidence files.',
  suppliers: 'The suppliers of the ERP, and the bank accounts that titles name for them.',
  audit: 'The decisions of people and keys.',
} as const;
export type ApiTag = keyof typeof API_TAGS;

/**
 * The description of a route in the API's document, with the schemas that check its input.
 * @param access who may call the route
 * @param operationId the name of the call in generated clients; it stays the same over releases
 */
export function describe(
  access: RouteAccess,
  tag: ApiTag,
  operationId: string,
  summary: string,
  schema: {
    readonly params?: TSchema;
    readonly querystring?: TSchema;
    readonly body?: TSchema;
    readonly status?: number;
    readonly answer: TSchema;
    /** The content types of the answer, unless it is JSON. */
    readonly types?: readonly string[];
  },
) {
  const { status = 200, answer, types, querystring, ...others } = schema;
  const input = {
    ...others,
    ...(querystring !== undefined && {
      querystring: { ...querystring, additionalProperties: false },
    }),
  };
  const failures = Object.fromEntries(
    Object.entries({ ...FAILURES, ...(input.body !== undefined && TOO_LARGE) }).map(
      ([code, description]) => [code, { description, ...ErrorAnswer }],
    ),
  );
  const done = {
    description: 'Done.',
    ...(types === undefined
      ? answer
      : { content: Object.fromEntries(types.map((type) => [type, { schema: answer }])) }),
  };
  return {
    config: { access },
    ...(input.body !== undefined && { bodyLimit: bodyLimitOf(input.body) }),
    schema: {
      tags: [tag],
      operationId,
      summary,
      ...input,
      response: { [status]: done, ...failures },
    },
  };
}

/**
 * Returns the date of the path.
 * @throws InputError when it is not a calendar date
 */
export function requireDate({ params }: FastifyRequest): CivilDate {
  const date = parseCivilDate(textParameter(params, 'date') ?? '');
  // The dates of pages, which link to the neighbours of a date.
  if (date !== null && date > '0001-12-31' && date < '9999-01-01') return date;
  throw new InputError('date: expected a calendar date as YYYY-MM-DD');
}

/**
 * Returns the id of the path.
 * @throws InputError when it is not a number
 */
export function requireId(request: FastifyRequest): bigint {
  const id = numberOf(request, 'id', request.params);
  if (id === null) throw new InputError('id: expected a number');
  return BigInt(id);
}

/** @throws InputError that names the parameters of a list's filter that cannot be read */
export function requireRead(faults: readonly TextKey[]): void {
  if (faults.length === 0) return;
  const names = faults.map((label) => textOf('en')(label)).join(', ');
  throw new InputError(`these parameters cannot be read: ${names}`);
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

/** The limit for a body without a list. */
export const BODY_BYTES = 64 * 1024;

/** Holds the longest list that an operation takes, 1,000 receipts, with the longest texts as escapes. */
const LIST_BYTES = 32 * 1024 * 1024;

const bodyLimitOf = (schema: TSchema): number =>
  JSON.stringify(schema).includes('"maxItems"') ? LIST_BYTES : BODY_BYTES;
