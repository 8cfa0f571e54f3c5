import { afterEach, beforeEach, expect, test } from 'vitest';
import { type OutageWatch, watchOutages } from '../../../src/core/work/job-queue.ts';
import { recordingLogger } from '../../support/logger.ts';

const { log, logger } = recordingLogger('info');

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
