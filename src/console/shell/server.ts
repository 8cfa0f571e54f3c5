/**
 * The HTTP server: routes, headers, errors. Monitoring systems read whether the service lives (`/healthz`), can work
 * (`/readyz`) and its metrics (`/metrics`). Signed-in users have pages, and scripts the same data and actions as JSON
 * under `/api`.
 */

import { isUtf8 } from 'node:buffer';
import type { AddressInfo } from 'node:net';
import AjvCompiler from '@fastify/ajv-compiler';
import fastifyCookie from '@fastify/cookie';
import fastifyFormbody from '@fastify/formbody';
import fastifySwagger from '@fastify/swagger';
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchemaValidationError,
} from 'fastify';
import type { Registry } from 'prom-client';
import { isLoopback } from '../../base/config/address-faults.ts';
import { ConfigError, InputError, StagingUnavailableError } from '../../base/runtime/errors.ts';
import { toDisplayText } from '../../base/values/field-fault.ts';
import { addOidcRoutes, LINK, LOGIN, LOGIN_ACTIONS } from '../access/login-routes.tsx';
import { USER_ACTIONS, USERS } from '../access/users-page.tsx';
import { ACCOUNT, ACCOUNT_ACTIONS } from '../account/account-page.tsx';
import { API_TAGS, BODY_BYTES } from '../api/api-request.ts';
import { addAssetRoutes } from './assets.ts';
import type { ConsoleParts, Feature } from './console-parts.ts';
import { addGuard, isForPrograms } from './guard.ts';
import { createReadiness, type ReadinessCheck, registerReadiness } from './readiness.ts';
import { EVERYBODY, forMonitoring, withAccess } from './route-access.ts';
import { type ErrorAnswer, errorPage, sendPage, statusOf } from './send-page.tsx';

export interface ConsoleOptions {
  /** A name or address of this machine; `0.0.0.0` or `::`: all of them. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** IP addresses and blocks of the proxies whose X-Forwarded-For is trusted; default: none. */
  readonly trustedProxies?: readonly string[];
  /** In the order in which `/readyz` lists them. */
  readonly checks: readonly ReadinessCheck[];
  /** Longest wait for a check in milliseconds; default 3 seconds. */
  readonly checkTimeoutMs?: number;
  readonly registry: Registry;
  readonly parts: ConsoleParts;
}

/** A misspelt parameter must not widen a selection. */
const KEEPS_UNKNOWN = { removeAdditional: false } as const;

const REQUEST_TIMEOUT_MS = 10_000;
/** How often Node looks for requests beyond the timeout; its default is 30 seconds. */
const TIMEOUT_CHECK_MS = 1_000;

export function createConsole(options: ConsoleOptions) {
  const { host, port, parts, trustedProxies = [] } = options;
  const server = fastify({
    bodyLimit: BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node takes the greater of the two timeouts for that of the request; headersTimeout is 60 seconds by default.
    http: { connectionsCheckingInterval: TIMEOUT_CHECK_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: refuseAddress(parts.publicUrl),
    ajv: { customOptions: KEEPS_UNKNOWN },
    schemaErrorFormatter: ([fault], part) => new Error(schemaFault(part, fault)),
  });
  return {
    /**
     * Resolves when the server listens. To be called once.
     * @returns the address, and every route as `METHOD path`
     * @throws ConfigError when the server cannot listen on that host and port
     */
    async start() {
      server.addHook('onRequest', async (_request, reply) => {
        reply.headers(securityHeaders(parts.publicUrl));
      });
      addErrors(server, parts);
      const routes = await addPages(server, options);
      addMachineRoutes(server, options);
      try {
        await server.listen({ host, port });
      } catch (error) {
        throw listenFault(error, host, port);
      }
      const url = urlOf(server);
      parts.logger.info({ url }, 'console listening');
      return { url, routes };
    },
    /** Ends every connection. May be called more than once, and before `start`. */
    close: (): Promise<void> => server.close(),
  };
}

/** The answer to an address that the router cannot read. No hook runs for it. */
const refuseAddress =
  (publicUrl: URL | null) =>
  ({ statusCode = 400 }: FastifyError, _request: unknown, reply: unknown) => {
    const message = 'the address cannot be read';
    (reply as FastifyReply)
      .code(statusCode)
      .headers(securityHeaders(publicUrl))
      .send({ code: 'BAD_REQUEST', message });
  };

const MAX_NAME_CHARACTERS = 64;

/** The sentence of a schema, with the values that a field takes, or the name that no field has. */
function schemaFault(part: string, fault: FastifySchemaValidationError | undefined): string {
  const { instancePath = '', message = 'is invalid', params = {} } = fault ?? {};
  const { allowedValues, additionalProperty } = params;
  const more = Array.isArray(allowedValues) ? allowedValues.join(', ') : additionalProperty;
  const said = `${part}${instancePath} ${message}`;
  return typeof more === 'string' ? `${said}: ${toDisplayText(more, MAX_NAME_CHARACTERS)}` : said;
}

/** The pages about users, their credentials and keys, of which no feature knows. */
const ACCESS: Feature = {
  name: 'access',
  pages: [LOGIN, LINK, addOidcRoutes, USERS, ACCOUNT],
  actions: [...LOGIN_ACTIONS, ...USER_ACTIONS, ...ACCOUNT_ACTIONS],
};

async function addPages(
  server: FastifyInstance,
  { host, parts, trustedProxies = [] }: ConsoleOptions,
): Promise<readonly string[]> {
  const { logger } = parts;
  if (!isLoopback(host) && parts.publicUrl?.protocol !== 'https:') {
    logger.warn(
      { host },
      'the console is served over plain HTTP: passwords and cookies can be read on the way; put a proxy with TLS in front and set CONSOLE_PUBLIC_URL',
    );
  }
  // The console itself uses plain HTTP, so an https address is that of a proxy.
  if (parts.publicUrl?.protocol === 'https:' && trustedProxies.length === 0) {
    logger.warn(
      'all clients have the address of the proxy: one client that tries too many passwords keeps everybody from signing in; set TRUSTED_PROXIES',
    );
  }
  await server.register(fastifyCookie);
  server.removeAllContentTypeParsers();
  await server.register(fastifyFormbody);
  const parseJson = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request, bytes, done) => {
      // Otherwise the bytes of another encoding become U+FFFD, and different keys one.
      if (isUtf8(bytes)) return parseJson(request, bytes.toString(), done);
      return done(Object.assign(new Error(), { statusCode: 400, code: 'BODY_NOT_UTF8' }));
    },
  );
  const routes = addGuard(server, {
    ...parts,
    refuse: (request, reply, message) =>
      sendError(request, reply, parts, { status: 403, code: 'FORBIDDEN', message }),
  });
  addAssetRoutes(server);
  for (const { pages = [], lists = [], actions = [] } of [ACCESS, ...parts.features]) {
    for (const add of pages) add(server, parts);
    for (const { addPage } of lists) addPage(server, parts);
    for (const { add } of actions) add(server, parts);
  }
  await addApiRoutes(server, parts);
  return routes;
}

/** @param publicUrl see `ConsoleParts`; with https, browsers are told to use https only */
const securityHeaders = (publicUrl: URL | null) => ({
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // With no-referrer, browsers would send the forms of the console with an Origin of null.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  ...(publicUrl?.protocol === 'https:' && { 'strict-transport-security': 'max-age=31536000' }),
});

/** Sends only the status of an error, unless its message was written for the user. */
function addErrors(server: FastifyInstance, parts: ConsoleParts): void {
  const { logger } = parts;
  server.setNotFoundHandler((request, reply) =>
    sendError(request, reply, parts, { status: 404, code: 'NOT_FOUND', message: 'not found' }),
  );
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    const answer = answerOf(error, request);
    if (answer.status >= 500 && !(error instanceof InputError)) {
      const { method, routeOptions } = request;
      const level = error instanceof StagingUnavailableError ? 'warn' : 'error';
      logger[level]({ method, route: routeOptions.url ?? null, err: error }, 'request failed');
    }
    return sendError(request, reply, parts, answer);
  });
}

const BODY_FAULTS: Readonly<Record<string, string>> = {
  BODY_NOT_UTF8: 'the body is not UTF-8',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'expected JSON as application/json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'the body is not JSON',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'expected JSON as application/json',
};

function answerOf(error: FastifyError, { routeOptions }: FastifyRequest): ErrorAnswer {
  if (error instanceof InputError) {
    const { code, message, context } = error;
    const status = statusOf(error);
    return { status, code, message, position: context['safe'], fault: error };
  }
  if (error instanceof StagingUnavailableError) {
    return {
      status: 503,
      code: error.code,
      message: 'the database does not answer, or is busy; try again',
    };
  }
  const status = error.statusCode ?? 500;
  if (status === 413) {
    const { bodyLimit } = routeOptions;
    const message = `the body has more than ${bodyLimit} bytes, the limit of this route`;
    return { status, code: 'BODY_TOO_LARGE', message };
  }
  if (status < 400 || status >= 500) {
    return { status: 500, code: 'INTERNAL', message: 'the request failed; the log has more' };
  }
  const other = BODY_FAULTS[error.code] ?? 'the request was refused';
  // The message of a schema names the parameter and never its value.
  const message = error.validation !== undefined ? error.message : other;
  return { status, code: 'BAD_REQUEST', message };
}

function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ConsoleParts,
  error: ErrorAnswer,
): FastifyReply | Promise<FastifyReply> {
  const { status, code, message, position } = error;
  const wantsPage = request.headers.accept?.includes('text/html') === true;
  if (!wantsPage || isForPrograms(request)) {
    return reply.code(status).send({ code, message, position });
  }
  return sendPage(request, reply, parts, (context) => errorPage(context, error));
}

function addMachineRoutes(server: FastifyInstance, options: ConsoleOptions): void {
  const { registry } = options;
  const readiness = createReadiness(options.checks, options.parts.logger, options.checkTimeoutMs);
  registerReadiness(registry, readiness);

  // The answer itself shows that the event loop is not blocked.
  server.get('/healthz', forMonitoring, async () => ({ status: 'ok' }));

  server.get('/readyz', forMonitoring, async (_request, reply) => {
    const { ready, checks } = await readiness();
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready', checks });
  });

  server.get('/metrics', forMonitoring, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}

function listenFault(error: unknown, host: string, port: number): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  return new ConfigError([
    `CONSOLE_HOST, CONSOLE_PORT: cannot listen on ${host}, port ${port} (${error.code})`,
  ]);
}

function urlOf(server: FastifyInstance): string {
  // For a name with several addresses: the first. All have the same port.
  const address = server.addresses()[0] as AddressInfo;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

async function addApiRoutes(server: FastifyInstance, parts: ConsoleParts): Promise<void> {
  await server.register(fastifySwagger, {
    hideUntagged: true,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'erp-conciliation-sync',
        version: parts.version,
        description:
          'The ledger of anticipated receivables. Amounts are exact decimals as text; dates are calendar dates.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: parts.publicUrl?.origin ?? '/', description: 'This console.' }],
      tags: Object.entries(API_TAGS).map(([name, description]) => ({ name, description })),
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }],
    },
  });
  await server.register(
    async (api) => {
      // Tests compare the responses with the schemas. A serializer made from the schemas would hide
      // a difference.
      api.setSerializerCompiler(() => (data) => JSON.stringify(data));
      const compilerOf = AjvCompiler();
      api.setValidatorCompiler(({ schema, httpPart }) => {
        // The digits of a JSON number have passed through a double: a number is never read as text.
        const isJson = httpPart === 'body';
        const customOptions = { ...KEEPS_UNKNOWN, ...(isJson && { coerceTypes: false }) };
        return compilerOf({}, { customOptions })({ schema });
      });
      for (const { api: operations = [], lists = [] } of parts.features) {
        for (const add of [...operations, ...lists.map(({ addApi }) => addApi)]) add(api, parts);
      }
      const access = withAccess({ who: EVERYBODY, scope: 'read' });
      api.get('/openapi.json', access, async () => server.swagger());
    },
    { prefix: '/api' },
  );
}
