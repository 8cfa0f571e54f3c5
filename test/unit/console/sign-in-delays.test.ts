import { beforeEach, expect, test } from 'vitest';
import {
  createSignInDelays,
  type SignInDelays,
} from '../../../src/console/access/sign-in-delays.ts';

let now = 1_800_000_000_000;
let delays: SignInDelays;
beforeEach(() => {
  delays = createSignInDelays(() => now);
});

/** Tries as early as allowed, and returns the seconds that each try had to wait for. */
function waits(key: string, tries: number): number[] {
  return Array.from({ length: tries }, () => {
    const seconds = delays.begin(key);
    now += seconds * 1000;
    if (seconds > 0) expect(delays.begin(key)).toBe(0);
    return seconds;
  });
}

test('the delay grows with each try, up to a minute', () => {
  expect(waits('ana 192.0.2.1', 13)).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
});

test('tries at once are not more than tries one by one', () => {
  const allowed = Array.from({ length: 30 }, () => delays.begin('ana')).filter((s) => s === 0);
  expect(allowed).toHaveLength(4);
});

test('a refused try does not make the delay longer', () => {
  waits('ana', 4);
  expect(Array.from({ length: 5 }, () => delays.begin('ana'))).toEqual([1, 1, 1, 1, 1]);
});

test('another key does not wait', () => {
  waits('ana 192.0.2.1', 8);
  expect(delays.begin('ana 198.51.100.7')).toBe(0);
  expect(delays.begin('bia 192.0.2.1')).toBe(0);
});

test('the tries before are forgotten after a success, and after 15 minutes', () => {
  waits('ana', 8);
  delays.succeed('ana');
  expect(waits('ana', 4)).toEqual([0, 0, 0, 0]);
  now += 1_000 + 15 * 60_000;
  expect(waits('ana', 4)).toEqual([0, 0, 0, 0]);
});

test('10,000 keys are remembered, and the one that was used longest ago is forgotten first', () => {
  waits('first', 8);
  waits('second', 8);
  for (let key = 0; key < 9_999; key += 1) delays.begin(`name-${key}`);
  expect(delays.begin('second')).toBeGreaterThan(0);
  expect(delays.begin('first')).toBe(0);
});
