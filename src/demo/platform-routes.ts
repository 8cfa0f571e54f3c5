import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type CivilDate, parseCivilDate } from '../base/values/business-day.ts';
import { type Answer, errorAnswer, titlesAnswer } from './answer.ts';
import type { ProviderRegistry } from './providers.ts';
import type { Days } from './synthetic-days.ts';
import type { TokenAuthority } from './token.ts';

export interface PlatformParts {
  readonly tokens: TokenAuthority;
  readonly days: Days;
  readonly providers: ProviderRegistry;
  readonly exchange: Exchange;
}

/**
 * Answers a request that has a valid token. A request has its effect when `regular` is called, which returns the
 * answer of the platform. `change` replaces the titles of the answer.
 */
export type Exchange = (
  request: FastifyRequest,
  reply: FastifyReply,
  regular: (change?: (titles: Iterable<string>) => Iterable<string>) => Answer,
) => unknown;

export const regularExchange: Exchange = (_request, reply, regular) => {
  const { status, headers, body } = regular();
  return reply
    .code(status)
    .headers(headers)
    .send(Readable.from(body, { objectMode: false }));
};

interface DateFilter {
  readonly date: CivilDate;
  readonly isExact: boolean;
}

/** The platform's two operations. */
export async function registerPlatformRoutes(
  app: FastifyInstance,
  { tokens, days, providers, exchange }: PlatformParts,
): Promise<void> {
  app.addHook('onRequest', async (request, reply) => {
    if (tokens.isAuthorized(request.headers.authorization)) return;
    await reply.code(401).send({ status: 401, message: 'the token is missing or invalid' });
  });

  app.get('/api/anticipations/conciliation', async (request, reply) =>
    exchange(request, reply, (change = (titles) => titles) => {
      const filter = parseFilter(request.query as Readonly<Record<string, unknown>>);
      if (typeof filter === 'string') return errorAnswer(400, filter);
      const { date, isExact } = filter;
      return titlesAnswer(change(isExact ? days.titlesOn(date) : days.titlesSince(date)));
    }),
  );

  app.post('/api/providers', async (request, reply) =>
    exchange(request, reply, () => providers.receive(request.body)),
  );
}

/**
 * Returns the filter, or its fault. The real platform's answer to both parameters, or to neither,
 * is unknown. The sandbox refuses them, which shows faulty clients.
 */
function parseFilter(query: Readonly<Record<string, unknown>>): DateFilter | string {
  const { conciliationDate, anticipationDate } = query;
  if (conciliationDate !== undefined && anticipationDate !== undefined) {
    return 'the sandbox takes conciliationDate or anticipationDate, not both';
  }
  const text = conciliationDate ?? anticipationDate;
  if (text === undefined) return 'the sandbox wants conciliationDate or anticipationDate';
  const date = typeof text === 'string' ? parseCivilDate(text) : null;
  if (date === null) return 'not a calendar date as YYYY-MM-DD';
  return { date, isExact: conciliationDate !== undefined };
}
