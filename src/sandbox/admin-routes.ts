import { BlockList, isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { type CivilDate, parseCivilDate } from '../domain/business-day.ts';
import { InputError } from '../runtime/errors.ts';
import { parseFaults } from './faults.ts';
import type { PlatformParts } from './platform-routes.ts';
import { ProviderRulesSchema } from './providers.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;

const daySizeValidator = Compile(Type.Object({ titleCount: Type.Integer({ minimum: 0 }) }));
const rulesValidator = Compile(Type.Partial(ProviderRulesSchema));
const lifetimeValidator = Compile(Type.Object({ expiresInSeconds: Type.Optional(Type.Integer()) }));

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

export interface AdminParts extends PlatformParts {
  readonly issueToken: (expiresInSeconds?: number) => string;
}

/**
 * The routes below `/_sandbox`, which the real platform does not have. They answer only this
 * machine, on any address of the sandbox, because they issue tokens.
 */
export async function registerAdminRoutes(app: FastifyInstance, parts: AdminParts): Promise<void> {
  const { days, rawBodies, providers, faults, log } = parts;

  app.addHook('onRequest', async (request, reply) => {
    if (loopback.check(request.ip, isIPv6(request.ip) ? 'ipv6' : 'ipv4')) return;
    await reply.code(403).send({ status: 403, message: 'from the same machine only' });
  });
  app.addContentTypeParser('application/x-ndjson', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body),
  );

  app.get('/requests', async () => log.entries);
  app.post('/tokens', async (request) => {
    const { expiresInSeconds } = checked(lifetimeValidator, request.body ?? {}, 'expiresInSeconds');
    return { token: parts.issueToken(expiresInSeconds) };
  });

  app.get('/faults', async () => faults.pending);
  app.put('/faults', async (request, reply) => {
    const planned = parseFaults(request.body);
    faults.clear();
    faults.add(...planned);
    return noContent(reply);
  });
  app.delete('/faults', async (_request, reply) => {
    faults.clear();
    return noContent(reply);
  });

  app.get('/providers', async () => [...providers.byExternalId.values()]);
  app.put('/providers', async (request, reply) => {
    providers.setRules(checked(rulesValidator, request.body, 'onInvalid and answer'));
    return noContent(reply);
  });

  app.put<DayParams>('/days/:date', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const date = toDate(request.params.date);
    // Lines, not a JSON array: parsing an array would lose the notation of the amounts.
    if (typeof request.body === 'string') {
      days.setTexts(
        date,
        request.body.split('\n').filter((line) => line.trim() !== ''),
      );
    } else {
      days.setSize(date, checked(daySizeValidator, request.body, 'titleCount').titleCount);
    }
    return noContent(reply);
  });
  app.delete<DayParams>('/days/:date', async (request, reply) => {
    const date = toDate(request.params.date);
    days.setTexts(date, null);
    rawBodies.delete(date);
    return noContent(reply);
  });

  // In a separate context, so that only this route accepts every content type as bytes.
  await app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    raw.put<DayParams & { Body: Buffer }>(
      '/days/:date/body',
      { bodyLimit: MAX_BODY_BYTES },
      async (request, reply) => {
        const contentType = request.headers['content-type'] ?? 'application/json';
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        rawBodies.set(toDate(request.params.date), {
          body,
          headers: { 'content-type': contentType },
        });
        return noContent(reply);
      },
    );
  });
}

interface DayParams {
  Params: { date: string };
}

interface Validator<T> {
  Check(value: unknown): value is T;
}

function checked<T>(validator: Validator<T>, value: unknown, expected: string): T {
  if (!validator.Check(value)) throw new InputError(`the body is not as documented: ${expected}`);
  return value;
}

function toDate(text: string): CivilDate {
  const date = parseCivilDate(text);
  if (date === null) throw new InputError('not a calendar date as YYYY-MM-DD');
  return date;
}

function noContent(reply: FastifyReply): FastifyReply {
  return reply.code(204).send();
}
