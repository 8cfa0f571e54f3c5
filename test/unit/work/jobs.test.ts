import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { ofOutcome, ofPush } from '../../../src/app/engine.ts';
import {
  PlatformAuthError,
  PlatformRequestError,
  PlatformUnavailableError,
  TokenUnusableError,
} from '../../../src/base/runtime/errors.ts';
import { type AuthGate, createAuthGate, throughGate } from '../../../src/core/work/auth-gate.ts';
import type { AttemptOutcome } from '../../../src/core/work/pull-parts.ts';
import type { PushReport } from '../../../src/features/providers/push-providers.ts';

const logger = pino({ level: 'silent' });
const never = new AbortController().signal;

let token: string;
let gate: AuthGate;

beforeEach(() => {
  token = 'first';
  gate = createAuthGate({ token: { current: async () => token }, logger, pollIntervalMs: 5 });
});

function handlerOf(runPull: () => Promise<AttemptOutcome>) {
  return throughGate(gate, async () => ofOutcome(await runPull()));
}

const outcomes = {
  done: { kind: 'done', report: { state: 'unchanged' } } as unknown as AttemptOutcome,
  failed: { kind: 'failed', error: new PlatformRequestError('400') },
  retry: { kind: 'retry', delayMs: 4_200, error: new PlatformUnavailableError('503') },
  unauthorized: { kind: 'unauthorized', error: new PlatformAuthError('401') },
} satisfies Record<string, AttemptOutcome>;

test.each(['done', 'failed'] as const)('an attempt that is %s ends its job', async (kind) => {
  expect(await handlerOf(async () => outcomes[kind])(7n, never, never)).toBeUndefined();
});

test('an attempt to be repeated has its pull looked at again when the ledger says so', async () => {
  expect(await handlerOf(async () => outcomes.retry)(7n, never, never)).toEqual({
    retryInMs: 4_200,
  });
});

test('an attempt that found no usable token comes back, and refuses none', async () => {
  const error = new TokenUnusableError(['PLATFORM_TOKEN_FILE: is empty']);
  const handle = handlerOf(async () => ({ kind: 'unauthorized', error }));
  expect(await handle(1n, never, never)).toEqual({ retryInMs: 0 });
  expect(gate.isOpen()).toBe(true);
});

describe('a push', () => {
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
    error:
      kind === 'unauthorized' ? new PlatformAuthError('401') : new PlatformUnavailableError('5'),
    ...nothing,
    requests: 1,
  });

  test.each(['synced', 'rejected', 'invalid', 'unchanged', 'relieved'] as const)(
    'that got something %s looks for the next batch at once',
    (count) => {
      expect(ofPush(done({ [count]: 1 }))).toEqual({ isRefused: false, retryInMs: 0 });
    },
  );

  test('that decided nothing ends the job, and so does another pushing process', () => {
    expect(ofPush(done({ requests: 1 }))).toEqual({ isRefused: false, retryInMs: null });
    expect(ofPush({ kind: 'busy', ...nothing })).toEqual({ isRefused: false, retryInMs: null });
  });

  test.each(['retry', 'failed'] as const)(
    'whose request ended with %s waits as long as the tables say',
    (kind) => {
      expect(ofPush(failure(kind, 4_200))).toEqual({ isRefused: false, retryInMs: 4_200 });
    },
  );

  test('whose token is refused closes the gate, and a token that may not push does not', () => {
    expect(ofPush(failure('unauthorized', 0))).toEqual({ isRefused: true, retryInMs: 0 });
    const error = new TokenUnusableError(['PLATFORM_TOKEN_FILE: is empty']);
    expect(ofPush({ ...nothing, kind: 'unauthorized', delayMs: 0, error })).toEqual({
      isRefused: false,
      retryInMs: 0,
    });
  });
});
