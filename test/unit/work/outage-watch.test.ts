import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type OutageWatch, watchOutages } from '../../../src/core/work/outage-watch.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const log: { level: number; msg: string }[] = [];
const logger = pino(
  { level: 'info' },
  { write: (line: string) => void log.push(JSON.parse(line)) },
);

let isUp: boolean;
let told: string[];
let watch: OutageWatch;

beforeEach(() => {
  log.length = 0;
  isUp = true;
  told = [];
  watch = watchOutages({
    name: 'Redis',
    probe: async () => {
      if (!isUp) throw new Error('ECONNREFUSED 10.1.2.3:6379');
    },
    logger,
  });
  watch.follow({ onAway: () => told.push('away'), onBack: () => told.push('back') });
});
afterEach(() => watch.stop());

const settle = () => new Promise((resolve) => setTimeout(resolve, 20));

test('any number of errors of one outage make two lines: unavailable, and available again', async () => {
  isUp = false;
  for (let times = 0; times < 50; times += 1) watch.onError(new Error('ECONNREFUSED'));
  await settle();
  for (let times = 0; times < 50; times += 1) watch.onError(new Error('ECONNRESET'));
  await settle();
  expect(log).toMatchObject([{ level: 50, msg: 'the queue is not available' }]);
  expect(told).toEqual(['away']);

  isUp = true;
  await vi.waitFor(() => expect(told).toEqual(['away', 'back']), { timeout: PATIENCE_MS });
  expect(log).toMatchObject([{ level: 50 }, { level: 30, msg: 'the queue is available again' }]);
});

test('an error while the queue answers is a warning without the error’s text', async () => {
  watch.onError(new Error('row (12.345.678/0001-95) is odd'));
  await settle();
  expect(log).toMatchObject([{ level: 40, msg: 'queue error' }]);
  expect(JSON.stringify(log)).not.toContain('12.345');
  expect(told).toEqual([]);
});

test('after it was stopped nothing is said', async () => {
  watch.stop();
  isUp = false;
  watch.onError(new Error('gone'));
  await settle();
  expect(log).toEqual([]);
});
