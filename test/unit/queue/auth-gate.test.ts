import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { ConfigError, ShutdownError } from '../../../src/errors.ts';
import { type AuthGate, createAuthGate } from '../../../src/queue/auth-gate.ts';

const never = new AbortController().signal;
const log: Record<string, unknown>[] = [];
const logger = pino(
  { level: 'info' },
  { write: (line: string) => void log.push(JSON.parse(line)) },
);
const messages = () => log.map((line) => line['msg']);

let current: () => string;
let gate: AuthGate;

beforeEach(() => {
  log.length = 0;
  current = () => 'first-token';
  gate = createAuthGate({ token: { current: async () => current() }, logger, pollIntervalMs: 5 });
});

/** Whether the gate lets anybody pass within a few polls. */
async function passes(): Promise<boolean> {
  const patience = new AbortController();
  const passed = gate.pass(patience.signal).then(
    () => true,
    () => false,
  );
  await Promise.race([passed, sleep(40)]);
  patience.abort();
  return passed;
}

test('it lets pulls pass while the token was not refused', async () => {
  expect(await passes()).toBe(true);
  expect(gate.isOpen()).toBe(true);
  expect(messages()).toEqual([]);
});

test('a refused token closes it, until the source holds another one', async () => {
  expect(gate.refuse(await gate.pass(never))).toBe(true);
  expect(gate.isOpen()).toBe(false);
  expect(await passes()).toBe(false);

  const waiting = gate.pass(never);
  current = () => 'second-token';
  await waiting;
  expect(gate.isOpen()).toBe(true);
  expect(messages()).toEqual([
    'pulls and pushes are paused: the platform refuses the token; replace it',
    'pulls and pushes go on: there is another token',
  ]);
});

test('of many pulls that were refused with one token, one closes it', async () => {
  const tokens = await Promise.all([gate.pass(never), gate.pass(never), gate.pass(never)]);
  expect(tokens.map((token) => gate.refuse(token))).toEqual([true, false, false]);
});

test('a token that was replaced during the attempt is tried', async () => {
  const used = await gate.pass(never);
  current = () => 'second-token';
  gate.refuse(used);
  expect(await passes()).toBe(true);
});

test('a late refusal of an older token does not bring that token back', async () => {
  const first = await gate.pass(never);
  gate.refuse(first);
  current = () => 'second-token';
  const second = await gate.pass(never);
  gate.refuse(second);
  expect(await passes()).toBe(false);
});

test('it waits while there is no usable token, and says so once', async () => {
  current = () => {
    throw new ConfigError(['PLATFORM_TOKEN_FILE: is empty, expected a bearer token']);
  };
  expect(await passes()).toBe(false);
  expect(gate.isOpen()).toBe(false);
  current = () => 'first-token';
  expect(await passes()).toBe(true);
  expect(messages()).toEqual([
    'pulls and pushes are paused: no usable token',
    'pulls and pushes go on: there is another token',
  ]);
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
  const fingerprint = await gate.pass(never);
  gate.refuse(fingerprint);
  expect(JSON.stringify([fingerprint, log])).not.toContain('first-token');
});
