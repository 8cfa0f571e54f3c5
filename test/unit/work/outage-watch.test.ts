import { expect, onTestFinished, test } from 'vitest';
import { watchOutages } from '../../../src/core/work/job-queue.ts';
import { recordingLogger } from '../../support/logger.ts';

const settle = () => new Promise((resolve) => setTimeout(resolve, 20));

test('an error while the queue answers is a warning without the error’s text; after a stop nothing is said', async () => {
  const { log, logger } = recordingLogger('info');
  const watch = (probe: () => Promise<unknown>) => watchOutages({ name: 'Redis', probe, logger });
  const answering = watch(async () => {});
  onTestFinished(() => answering.stop());
  const told: string[] = [];
  answering.follow({ onAway: () => told.push('away'), onBack: () => told.push('back') });
  answering.onError(new Error('row (12.345.678/0001-95) is odd'));
  const stopped = watch(() => Promise.reject(new Error('ECONNREFUSED 10.1.2.3:6379')));
  stopped.stop();
  stopped.onError(new Error('gone'));
  await settle();
  expect(log).toMatchObject([{ level: 40, msg: 'queue error' }]);
  expect(JSON.stringify(log)).not.toContain('12.345');
  expect(told).toEqual([]);
});
