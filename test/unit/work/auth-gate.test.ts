import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { ofOutcome, ofPush } from '../../../src/app/engine.ts';
import {
  PlatformAuthError,
  PlatformUnavailableError,
  ShutdownError,
  TokenUnusableError,
} from '../../../src/base/runtime/errors.ts';
import {
  type Attempted,
  type AuthGate,
  createAuthGate,
  throughGate,
} from '../../../src/core/work/auth-gate.ts';
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
  const attempt = (isRefused: boolean, retryInMs: number | null = null) => {
    const answer = async () => {
      attempts.push(gate.isOpen());
      return { isRefused, retryInMs };
    };
    return throughGate(gate, answer)(1n, never, never);
  };
  expect(await attempt(true, 0)).toEqual({ retryInMs: 0 });
  await attempt(true);
  expect(await gate.findFault()).toBe('token_refused');
  const waiting = [attempt(false), attempt(false), attempt(false)];
  expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
  expect(attempts).toEqual([true, false, false, true, true]);
  expect(messages()).toEqual([REFUSED, 'pulls and pushes go on: there is a usable token']);
});

test('of many pulls that were refused with one token, one closes it', async () => {
  const passes = await Promise.all([gate.pass(never), gate.pass(never), gate.pass(never)]);
  for (const pass of passes) gate.refuse(pass);
  expect(messages()).toEqual([REFUSED]);
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

test('a refused token that comes back is not tried again, also after another refused one, and is reported', async () => {
  gate.refuse(await gate.pass(never));
  current = () => 'second-token';
  const second = await gate.pass(never);
  expect(await gate.findFault()).toBeNull();
  gate.refuse(second);
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

const error = new PlatformUnavailableError('503');
const again = { kind: 'retry', delayMs: 4_200, error } as const;
const nothing = { requests: 0, synced: 0, rejected: 0, invalid: 0, unchanged: 0, relieved: 0 };
const ofReport = (report: object) => ofPush({ ...nothing, ...report } as PushReport);
const withoutToken = { kind: 'unauthorized', delayMs: 0, error: UNUSABLE } as const;
const refused = { ...withoutToken, error: new PlatformAuthError('401') };
test.each<readonly [string, Attempted, boolean, number | null]>([
  ['a pull with an answer', ofOutcome({ kind: 'done' } as AttemptOutcome), false, null],
  ['a pull with an error', ofOutcome({ kind: 'failed', error }), false, null],
  ['a pull with an error to be repeated', ofOutcome(again), false, 4_200],
  ['a pull with a refused token', ofOutcome(refused), true, 0],
  ['a pull with no usable token', ofOutcome(withoutToken), false, 0],
  ...['synced', 'rejected', 'invalid', 'unchanged', 'relieved'].map(
    (count) =>
      [`a push with something ${count}`, ofReport({ kind: 'done', [count]: 1 }), false, 0] as const,
  ),
  ['a push with no decision', ofReport({ kind: 'done', requests: 1 }), false, null],
  ['a push beside another pushing process', ofReport({ kind: 'busy' }), false, null],
  ['a push with an error to be repeated', ofReport(again), false, 4_200],
  ['a push with an error', ofReport({ ...again, kind: 'failed' }), false, 4_200],
  ['a push with a refused token', ofReport(refused), true, 0],
  ['a push with no usable token', ofReport(withoutToken), false, 0],
])('%s', (_, attempted, isRefused, retryInMs) => {
  expect(attempted).toEqual({ isRefused, retryInMs });
});
