import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { ofOutcome, ofPush } from '../../../src/app/engine.ts';
import {
  PlatformAuthError,
  PlatformRequestError,
  PlatformUnavailableError,
  ShutdownError,
  TokenUnusableError,
} from '../../../src/base/runtime/errors.ts';
import { type AuthGate, createAuthGate, throughGate } from '../../../src/core/work/auth-gate.ts';
import type { AttemptOutcome } from '../../../src/core/work/run-pull.ts';
import type { PushReport } from '../../../src/features/providers/push-providers.ts';
import { recordingLogger } from '../../support/logger.ts';

const never = new AbortController().signal;
const { log, logger } = recordingLogger('info');
const messages = () => log.map((line) => line['msg']);

const UNUSABLE = new TokenUnusableError(['PLATFORM_TOKEN_FILE: is empty, expected a bearer token']);
const REFUSED = 'pulls and pushes are paused: the platform refuses the token; replace it';

let current: () => string;
let gate: AuthGate;

beforeEach(() => {
  log.length = 0;
  current = () => 'first-token';
  const token = { current: async () => current() };
  gate = createAuthGate({ token, logger, pollIntervalMs: 5, patienceMs: 60 });
});

/** Several polls go by, and the gate lets no request pass. */
async function staysClosed(): Promise<void> {
  const patience = new AbortController();
  const passed = gate.pass(patience.signal);
  setTimeout(() => patience.abort(), 40);
  await expect(passed).rejects.toThrow(ShutdownError);
}

test('it lets pulls pass while the token was not refused', async () => {
  await gate.pass(never);
  expect(gate.isOpen()).toBe(true);
  expect(messages()).toEqual([]);
});

test('a refused token closes it, until the source holds another one', async () => {
  gate.refuse(await gate.pass(never));
  expect(gate.isOpen()).toBe(false);
  await staysClosed();

  const waiting = gate.pass(never);
  current = () => 'second-token';
  await waiting;
  expect(gate.isOpen()).toBe(true);
  expect(messages()).toEqual([REFUSED, 'pulls and pushes go on: there is a usable token']);
});

test('one attempt at a time tries a refused token again, and opens it if the platform takes the token', async () => {
  const token = { current: async () => 'only-token' };
  gate = createAuthGate({ token, logger, pollIntervalMs: 5, patienceMs: 60, triedAgainMs: 200 });
  const attempts: boolean[] = [];
  const answer = async (isRefused: boolean) => {
    attempts.push(gate.isOpen());
    return { isRefused, retryInMs: null };
  };
  const attempt = (isRefused: boolean) =>
    throughGate(gate, () => answer(isRefused))(1n, never, never);
  await attempt(true);
  await attempt(true);
  expect(await gate.findFault()).toBe('token_refused');
  const waiting = [attempt(false), attempt(false), attempt(false)];
  await Promise.all(waiting);
  expect(attempts).toEqual([true, false, false, true, true]);
  expect(messages()).toEqual([REFUSED, 'pulls and pushes go on: there is a usable token']);
});

test('of many pulls that were refused with one token, one closes it', async () => {
  const passes = await Promise.all([gate.pass(never), gate.pass(never), gate.pass(never)]);
  for (const pass of passes) gate.refuse(pass);
  expect(messages()).toEqual([REFUSED]);
});

test('a token that was replaced during the attempt is tried', async () => {
  const used = await gate.pass(never);
  current = () => 'second-token';
  gate.refuse(used);
  await gate.pass(never);
});

test('a late refusal of an older token does not bring that token back', async () => {
  const first = await gate.pass(never);
  gate.refuse(first);
  current = () => 'second-token';
  const second = await gate.pass(never);
  gate.refuse(second);
  await staysClosed();
});

test('a late refusal of the token before the last one closes nothing', async () => {
  const [early, late] = await Promise.all([gate.pass(never), gate.pass(never)]);
  gate.refuse(early);
  current = () => 'second-token';
  await gate.pass(never);
  gate.refuse(late);
  expect(gate.isOpen()).toBe(true);
  expect(await gate.findFault()).toBeNull();
});

test('a refused token that comes back is not tried again, and is reported', async () => {
  gate.refuse(await gate.pass(never));
  current = () => 'second-token';
  await gate.pass(never);
  expect(await gate.findFault()).toBeNull();
  current = () => 'first-token';
  await staysClosed();
  expect(gate.isOpen()).toBe(false);
  expect(await gate.findFault()).toBe('token_refused');
});

test('a source without a usable token is reported once its patience is over', async () => {
  current = () => {
    throw UNUSABLE;
  };
  expect(await gate.findFault()).toBeNull();
  expect(gate.isOpen()).toBe(false);
  await sleep(70);
  expect(await gate.findFault()).toBe('token_unusable');
  current = () => 'first-token';
  expect(await gate.findFault()).toBeNull();
  expect(gate.isOpen()).toBe(true);
});

test('a pull that waits is interrupted when the worker stops', async () => {
  gate.refuse(await gate.pass(never));
  const stop = new AbortController();
  const waiting = gate.pass(stop.signal);
  stop.abort();
  await expect(waiting).rejects.toThrow(ShutdownError);
  await expect(gate.pass(stop.signal)).rejects.toThrow(ShutdownError);
});

test('no token is in what it logs or hands out', async () => {
  const pass = await gate.pass(never);
  gate.refuse(pass);
  expect(JSON.stringify([pass, log])).not.toContain('first-token');
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
