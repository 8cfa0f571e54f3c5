import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { ConsoleRole, KeyScope } from '../../base/values/role.ts';
import type { AddRoutes, ConsoleParts } from '../shell/console-parts.ts';
import { EVERYBODY, withAccess } from '../shell/route-access.ts';
import { ErrorAnswer, splitInput } from './schema-parts.ts';

export const DEFAULT_LIMIT = 100;

const FAILURES = {
  400: 'A parameter is invalid, or the present state does not allow the action.',
  401: 'The key is missing, unknown, revoked or expired.',
  403: 'The role or the scopes of the key do not allow the request.',
  404: 'There is no such record.',
};

const OF_BODIES = {
  413: 'The body has more bytes than the limit, which the message names.',
  415: 'The body is not application/json.',
};

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

interface Operation<Input extends TProperties> {
  /** Absent: GET. */
  readonly method?: 'POST';
  readonly path: `/${string}`;
  /** Absent: every role. */
  readonly who?: readonly ConsoleRole[];
  /** That a key needs. */
  readonly scope: KeyScope;
  readonly tag: ApiTag;
  /** The name of the call in generated clients; it stays the same over releases. */
  readonly operationId: string;
  readonly summary: string;
  /** Of the path, and of the query or the body. The schemas check it before `run`. */
  readonly input: Input;
  readonly status?: number;
  readonly answer: TSchema;
  /** The content types of the answer, unless it is JSON. */
  readonly types?: readonly string[];
  /** Returns the answer; null: there is no such record. */
  readonly run: (
    parts: ConsoleParts,
    input: Readonly<Static<TObject<Input>>>,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => unknown;
}

/** An operation of the API is declared once: the route, its rights and its entry in the document. */
export const declareOperation =
  <Input extends TProperties>(operation: Operation<Input>): AddRoutes =>
  (api, parts) => {
    const { method = 'GET', path, who = EVERYBODY, scope, input, status = 200 } = operation;
    const [params, others] = splitInput(path, input);
    // A misspelt member must neither widen a selection nor be lost.
    const body = Type.Object(others, { additionalProperties: false });
    const hasBody = method === 'POST' && Object.keys(others).length > 0;
    const failures = Object.fromEntries(
      Object.entries({ ...FAILURES, ...(hasBody && OF_BODIES) }).map(([code, description]) => [
        code,
        { description, ...ErrorAnswer },
      ]),
    );
    const { tag, operationId, summary, answer, types } = operation;
    const done = {
      description: 'Done.',
      ...(types === undefined
        ? answer
        : { content: Object.fromEntries(types.map((type) => [type, { schema: answer }])) }),
    };
    api.route({
      method,
      url: path,
      ...withAccess({ who, scope }),
      ...(hasBody && { bodyLimit: bodyLimitOf(body) }),
      schema: {
        ...{ tags: [tag], operationId, summary },
        ...(Object.keys(params).length > 0 && { params: Type.Object(params) }),
        ...(hasBody && { body }),
        ...(!hasBody && { querystring: body }),
        response: { [status]: done, ...failures },
      },
      handler: async (request, reply) => {
        const given = Object.assign({}, hasBody ? request.body : request.query, request.params);
        const result = await operation.run(parts, given as Static<TObject<Input>>, request, reply);
        if (result === null) return reply.callNotFound();
        return result === reply ? reply : reply.code(status).send(result);
      },
    });
  };

/** The limit for a body without a list. */
export const BODY_BYTES = 64 * 1024;

/** Holds the longest list that an operation takes, 1,000 receipts, with the longest texts as escapes. */
const LIST_BYTES = 32 * 1024 * 1024;

const bodyLimitOf = (schema: TSchema): number =>
  JSON.stringify(schema).includes('"maxItems"') ? LIST_BYTES : BODY_BYTES;
