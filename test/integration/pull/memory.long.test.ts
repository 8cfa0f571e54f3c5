import { expect, test } from 'vitest';
import { environmentOf, runMeasured } from '../../support/child-command.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';

const TITLES = 100_000;
const LIMIT_MEGABYTES = 200;

const world = worldOfFile();

test(`a pull of ${TITLES} titles takes less than ${LIMIT_MEGABYTES} MB of memory`, async () => {
  world.sandbox.setDaySize(DAY, TITLES);
  const { stdout, peakMegabytes } = await runMeasured(
    ['pull', DAY, '--json'],
    environmentOf(world),
  );
  const { titles, dates } = JSON.parse(stdout);
  // Those that the sandbox withdraws with age are not among them.
  expect(titles).toBeGreaterThan(0.95 * TITLES);
  expect(dates).toMatchObject([{ inserted: titles }]);
  expect(peakMegabytes).toBeLessThan(LIMIT_MEGABYTES);
});
