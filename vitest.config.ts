import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { PATIENCE_MS } from './test/support/patience.ts';

/** Only what hangs is ended: no test is about speed, and a busy machine may take its time. */
const TEST_TIMEOUT_MS = 2 * PATIENCE_MS;

/** One more than there are cores: tests also wait for a server, a process or a timer. */
const MAX_WORKERS = availableParallelism() + 1;

/**
 * The files of a project share their processes, each of which loads the modules of the program once. To load them
 * for every file would take a third of the processor time of `npm test`.
 */
const ISOLATE_FILES = false;

/** Files that wait for a minute and more, beside which others have the processors. */
const LONG_WAITS = /\/(stopped-holder|closing-phase)\.long\.test\.ts$/;

/** Long waits begin first, and then the larger files, so that no process is left alone with one at the end. */
class WaitsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isWait = ({ moduleId }: TestSpecification) => LONG_WAITS.test(moduleId);
    return [...sorted.filter(isWait), ...sorted.filter((file) => !isWait(file))];
  }
}

/** `npm test` runs the projects unit and integration; `npm run test:full` runs the others. */
export default defineConfig({
  test: {
    expect: { poll: { timeout: PATIENCE_MS } },
    maxWorkers: MAX_WORKERS,
    sequence: { sequencer: WaitsFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          isolate: ISOLATE_FILES,
          exclude: ['test/unit/**/*.long.test.ts'],
          testTimeout: TEST_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], testTimeout: TEST_TIMEOUT_MS },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          isolate: ISOLATE_FILES,
          exclude: ['test/integration/**/*.long.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/{unit,integration}/**/*.long.test.ts'],
          isolate: ISOLATE_FILES,
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: {
          name: 'model',
          include: ['test/model/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: {
          name: 'console',
          include: ['test/console/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: {
          name: 'container',
          include: ['test/container/**/*.test.ts'],
          globalSetup: ['test/support/container-setup.ts'],
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
          // After the others, whose timing would suffer beside so many servers.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          // Longer than the harness's own bounds, which tell what did not come to an end.
          testTimeout: 4 * TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
          // The two files run beside each other.
          maxConcurrency: 3,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
