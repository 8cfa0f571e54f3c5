import type { FastifyInstance, FastifyReply } from 'fastify';
import { type CivilDate, parseCivilDate } from '../domain/business-day.ts';
import { type Answer, errorAnswer, sendAnswer, standsIn, titlesAnswer } from './answer.ts';
import type { DayBook } from './day-book.ts';
import type { Fault, FaultPlan } from './faults.ts';
import { IMPLAUSIBLE_KINDS, implausibleTitles } from './implausible-titles.ts';
import type { ProviderRegistry } from './providers.ts';
import { type RawBodies, rawAnswer } from './raw-bodies.ts';
import type { RequestLog } from './request-log.ts';
import type { TokenAuthority } from './token.ts';

export interface PlatformParts {
  readonly tokens: TokenAuthority;
  readonly days: DayBook;
  readonly rawBodies: RawBodies;
  readonly providers: ProviderRegistry;
  readonly faults: FaultPlan;
  readonly log: RequestLog;
}

interface DateFilter {
  readonly date: CivilDate;
  readonly isExact: boolean;
}

/**
 * The platform's two operations. A request without a valid token, or one that Fastify refuses, uses
 * up no fault.
 */
export async function registerPlatformRoutes(
  app: FastifyInstance,
  parts: PlatformParts,
): Promise<void> {
  const { tokens, days, rawBodies, providers, faults, log } = parts;

  const send = (reply: FastifyReply, answer: Answer, fault: Fault | null): Promise<void> => {
    reply.hijack();
    return sendAnswer(reply.raw, answer, fault, (status) =>
      log.answered(reply.request.raw, status),
    );
  };

  app.addHook('onRequest', async (request, reply) => {
    if (tokens.isAuthorized(request.headers.authorization)) return;
    await send(reply, errorAnswer(401, 'the token is missing or invalid'), null);
  });

  app.get('/api/anticipations/conciliation', async (request, reply) => {
    const query = request.query as Readonly<Record<string, unknown>>;
    const given = [query['conciliationDate'], query['anticipationDate']];
    const dates = given.filter((value) => typeof value === 'string');
    const fault = faults.take('conciliation', dates);
    const filter = parseFilter(query);
    if (typeof filter === 'string') return send(reply, errorAnswer(400, filter), fault);
    const raw = rawBodies.get(filter.date);
    if (raw !== undefined) return send(reply, rawAnswer(raw), fault);
    const titles = filter.isExact ? days.titlesOn(filter.date) : days.titlesSince(filter.date);
    const kind = IMPLAUSIBLE_KINDS.find((known) => known === fault?.kind);
    const sent = kind === undefined ? titles : implausibleTitles(titles, kind);
    return send(reply, titlesAnswer(sent), fault);
  });

  app.post('/api/providers', async (request, reply) => {
    const fault = faults.take('providers', []);
    const answer = standsIn(fault) ? errorAnswer(500, '') : providers.receive(request.body);
    return send(reply, answer, fault);
  });
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
