import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import type { PushReport } from '../../../src/providers/push-providers.ts';
import {
  ConfigError,
  PlatformAuthError,
  PlatformUnavailableError,
  ShutdownError,
  StagingUnavailableError,
} from '../../../src/runtime/errors.ts';
import { type AuthGate, createAuthGate } from '../../../src/work/auth-gate.ts';
import { createPushHandler } from '../../../src/work/push-handler.ts';

const log: { level: number; msg: string }[] = [];
const logger = pino(
  { level: 'debug' },
  { write: (line: string) => void log.push(JSON.parse(line)) },
);
const never = new AbortController().signal;

let token: string;
let gate: AuthGate;
let batches: number;

beforeEach(() => {
  log.length = 0;
  token = 'first';
  gate = createAuthGate({ token: { current: async () => token }, logger, pollIntervalMs: 5 });
  batches = 0;
});

function handlerOf(
  pushOnce: () => Promise<PushReport>,
  readDelayMs: () => Promise<number | null> = async () => 0,
) {
  const handle = createPushHandler({
    gate,
    logger,
    readDelayMs,
    pushOnce: () => {
      batches += 1;
      return pushOnce();
    },
  });
  return (stopping = never) => handle('providers', never, stopping);
}

const nothing = {
  requests: 0,
  synced: 0,
  rejected: 0,
  invalid: 0,
  unchanged: 0,
  relieved: 0,
};
const done = (counts: Partial<typeof nothing>): PushReport => ({
  kind: 'done',
  ...nothing,
  ...counts,
});
const failure = (kind: 'retry' | 'unauthorized' | 'failed', delayMs: number): PushReport => ({
  kind,
  delayMs,
  error: kind === 'unauthorized' ? new PlatformAuthError('401') : new PlatformUnavailableError('5'),
  ...nothing,
  requests: 1,
});

test.each([
  ['nothing waits', null, undefined],
  ['the batch is not due yet', 4_200, { retryInMs: 4_200 }],
])('where %s no request is sent', async (_, delayMs, fate) => {
  const handle = handlerOf(
    async () => done({}),
    async () => delayMs,
  );
  expect(await handle()).toEqual(fate);
  expect(batches).toBe(0);
});

test.each(['synced', 'rejected', 'invalid', 'unchanged', 'relieved'] as const)(
  'after a batch that got something %s the next is looked for at once',
  async (count) => {
    expect(await handlerOf(async () => done({ [count]: 1 }))()).toEqual({ retryInMs: 0 });
  },
);

test('a batch that decided nothing ends the job, and so does another pushing process', async () => {
  expect(await handlerOf(async () => done({ requests: 1 }))()).toBeUndefined();
  expect(await handlerOf(async () => ({ kind: 'busy', ...nothing }))()).toBeUndefined();
});

test.each(['retry', 'failed'] as const)(
  'after a request that ended with %s the job waits as long as the tables say',
  async (kind) => {
    expect(await handlerOf(async () => failure(kind, 4_200))()).toEqual({ retryInMs: 4_200 });
  },
);

test('a refused token is reported, and no request is sent until there is another', async () => {
  const reports = [failure('unauthorized', 0), done({ requests: 1, synced: 1 })];
  const handle = handlerOf(async () => reports.shift() ?? done({}));
  expect(await handle()).toEqual({ retryInMs: 0 });
  expect(await gate.report()).toMatchObject({ fault: 'token_refused', awaitsAcceptance: true });
  const waiting = handle();
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(batches).toBe(1);
  token = 'second';
  expect(await waiting).toEqual({ retryInMs: 0 });
  expect(batches).toBe(2);
  expect(await gate.report()).toMatchObject({ fault: null, awaitsAcceptance: false });
});

test('a push that waits for a token is given back as soon as the worker stops', async () => {
  const handle = handlerOf(async () => failure('unauthorized', 0));
  await handle();
  const stopping = new AbortController();
  const waiting = handle(stopping.signal);
  stopping.abort();
  await expect(waiting).rejects.toThrow(ShutdownError);
  expect(batches).toBe(1);
});

test('a batch that could not be read or recorded is retried after a delay', async () => {
  const away = () => Promise.reject(new StagingUnavailableError('away'));
  expect(await handlerOf(away)()).toEqual({ retryInMs: 30_000 });
  expect(await handlerOf(async () => done({}), away)()).toEqual({ retryInMs: 30_000 });
  expect(log).toMatchObject([{ level: 40 }, { level: 40 }]);
});

test.each([
  new ShutdownError('interrupted'),
  new ConfigError(['a defect']),
  new TypeError('a defect'),
])('$name is passed on', async (error) => {
  await expect(handlerOf(() => Promise.reject(error))()).rejects.toBe(error);
});
