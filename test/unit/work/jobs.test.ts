import { beforeEach, expect, test } from 'vitest';
import { ofOutcome, ofPush } from '../../../src/app/engine.ts';
import {
  PlatformAuthError,
  PlatformRequestError,
  PlatformUnavailableError,
  TokenUnusableError,
} from '../../../src/base/runtime/errors.ts';
import { type AuthGate, createAuthGate, throughGate } from '../../../src/core/work/auth-gate.ts';
import type { AttemptOutcome } from '../../../src/core/work/run-pull.ts';
import type { PushReport } from '../../../src/features/providers/push-providers.ts';
import { logger } from '../../support/logger.ts';

const never = new AbortController().signal;
const UNUSABLE = new TokenUnusableError(['PLATFORM_TOKEN_FILE: is empty']);

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
} satisfies Record<string, AttemptOutcome>;

test('the outcome of an attempt says when its pull is looked at again', async () => {
  const answer = (kind: keyof typeof outcomes) =>
    handlerOf(async () => outcomes[kind])(7n, never, never);
  expect(await answer('done')).toBeUndefined();
  expect(await answer('failed')).toBeUndefined();
  expect(await answer('retry')).toEqual({ retryInMs: 4_200 });
});

test('an attempt that found no usable token comes back, and refuses none', async () => {
  const handle = handlerOf(async () => ({ kind: 'unauthorized', error: UNUSABLE }));
  expect(await handle(1n, never, never)).toEqual({ retryInMs: 0 });
  expect(gate.isOpen()).toBe(true);
});

const nothing = { requests: 0, synced: 0, rejected: 0, invalid: 0, unchanged: 0, relieved: 0 };
const failed = {
  ...nothing,
  requests: 1,
  delayMs: 4_200,
  error: new PlatformUnavailableError('5'),
};
const unauthorized = { ...nothing, kind: 'unauthorized' as const, delayMs: 0 };
test.each<[string, PushReport, boolean, number | null]>([
  ...(['synced', 'rejected', 'invalid', 'unchanged', 'relieved'] as const).map(
    (count): [string, PushReport, boolean, number] => [
      `something ${count}`,
      { ...nothing, kind: 'done', [count]: 1 },
      false,
      0,
    ],
  ),
  ['no decision', { ...nothing, kind: 'done', requests: 1 }, false, null],
  ['another pushing process', { ...nothing, kind: 'busy' }, false, null],
  ['an error to be repeated', { ...failed, kind: 'retry' }, false, 4_200],
  ['an error', { ...failed, kind: 'failed' }, false, 4_200],
  ['a refused token', { ...unauthorized, error: new PlatformAuthError('401') }, true, 0],
  ['no usable token', { ...unauthorized, error: UNUSABLE }, false, 0],
])('a push with %s', (_, report, isRefused, retryInMs) => {
  expect(ofPush(report)).toEqual({ isRefused, retryInMs });
});
