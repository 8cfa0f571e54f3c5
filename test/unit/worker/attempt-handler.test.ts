import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import type { AttemptOutcome } from '../../../src/pull/pull-parts.ts';
import {
  ConfigError,
  InputError,
  PlatformAuthError,
  PlatformRequestError,
  PlatformUnavailableError,
  ShutdownError,
  StagingUnavailableError,
  StaleFenceError,
  TokenUnusableError,
} from '../../../src/runtime/errors.ts';
import { createAttemptHandler } from '../../../src/work/attempt-handler.ts';
import { type AuthGate, createAuthGate } from '../../../src/work/auth-gate.ts';

const log: { level: number; msg: string }[] = [];
const logger = pino(
  { level: 'debug' },
  { write: (line: string) => void log.push(JSON.parse(line)) },
);
const never = new AbortController().signal;

let token: string;
let gate: AuthGate;
let requests: number;

beforeEach(() => {
  log.length = 0;
  token = 'first';
  gate = createAuthGate({ token: { current: async () => token }, logger, pollIntervalMs: 5 });
  requests = 0;
});

function handlerOf(runPull: () => Promise<AttemptOutcome>) {
  return createAttemptHandler({
    subject: 'pull',
    gate,
    logger,
    attempt: () => {
      requests += 1;
      return runPull();
    },
  });
}

const outcomes = {
  done: { kind: 'done', report: { state: 'unchanged' } } as unknown as AttemptOutcome,
  failed: { kind: 'failed', error: new PlatformRequestError('400') },
  retry: { kind: 'retry', delayMs: 4_200, error: new PlatformUnavailableError('503') },
  unauthorized: { kind: 'unauthorized', error: new PlatformAuthError('401') },
} satisfies Record<string, AttemptOutcome>;

const throwing = (error: unknown) => handlerOf(() => Promise.reject(error));

test.each(['done', 'failed'] as const)('an attempt that is %s ends its job', async (kind) => {
  expect(await handlerOf(async () => outcomes[kind])(7n, never, never)).toBeUndefined();
});

test('an attempt to be repeated has its pull looked at again when the ledger says so', async () => {
  expect(await handlerOf(async () => outcomes.retry)(7n, never, never)).toEqual({
    retryInMs: 4_200,
  });
});

test('a refused token is reported, and no request is sent until there is another', async () => {
  const answers = [outcomes.unauthorized, outcomes.unauthorized, outcomes.done];
  const handle = handlerOf(async () => answers.shift() ?? outcomes.failed);
  const [one, other] = await Promise.all([handle(1n, never, never), handle(2n, never, never)]);
  expect([one, other]).toEqual([{ retryInMs: 0 }, { retryInMs: 0 }]);
  expect(await gate.report()).toMatchObject({ fault: 'token_refused', awaitsAcceptance: true });

  const waiting = handle(1n, never, never);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(requests).toBe(2);
  token = 'second';
  expect(await waiting).toBeUndefined();
  expect(requests).toBe(3);
  expect(await gate.report()).toMatchObject({ fault: null, awaitsAcceptance: false });
});

test('an attempt that found no usable token comes back, and refuses none', async () => {
  const error = new TokenUnusableError(['PLATFORM_TOKEN_FILE: is empty']);
  const handle = handlerOf(async () => ({ kind: 'unauthorized', error }));
  expect(await handle(1n, never, never)).toEqual({ retryInMs: 0 });
  expect(gate.isOpen()).toBe(true);
});

test('a pull that waits for a token is given back as soon as the worker stops', async () => {
  const handle = handlerOf(async () => outcomes.unauthorized);
  await handle(1n, never, never);
  const stopping = new AbortController();
  const waiting = handle(1n, never, stopping.signal);
  stopping.abort();
  await expect(waiting).rejects.toThrow(ShutdownError);
  expect(requests).toBe(1);
});

test('a pull that another worker took over ends this job, with a word in the log', async () => {
  expect(await throwing(new StaleFenceError('taken over'))(7n, never, never)).toBeUndefined();
  expect(log).toMatchObject([{ level: 30, msg: 'another worker has taken the pull over' }]);
});

test('a job of a pull that is finished or unknown ends quietly', async () => {
  expect(await throwing(new InputError('already finished'))(7n, never, never)).toBeUndefined();
  expect(log).toMatchObject([{ level: 20 }]);
});

test('a pull whose outcome could not be recorded is retried after a delay', async () => {
  const handled = await throwing(new StagingUnavailableError('away'))(7n, never, never);
  expect(handled).toEqual({ retryInMs: 30_000 });
  expect(log).toMatchObject([{ level: 40 }]);
});

test.each([
  new ShutdownError('interrupted'),
  new ConfigError(['DATABASE_URL: a pooler is in between']),
  new TypeError('a defect'),
])('$name is passed on', async (error) => {
  await expect(throwing(error)(7n, never, never)).rejects.toBe(error);
});
