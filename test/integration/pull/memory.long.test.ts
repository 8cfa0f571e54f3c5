import { expect, test } from 'vitest';
import { type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { environmentOf, runMeasured } from '../../support/child-command.ts';
import { worldOfFile } from '../../support/pull-world.ts';

const TITLES = 100_000;

const world = worldOfFile();

test(`a pull of ${TITLES} titles needs hardly more memory than a pull of ten`, async () => {
  const few = await peakOfPull(toCivilDate('2026-03-02'), 10);
  const many = await peakOfPull(toCivilDate('2026-03-03'), TITLES);
  expect(many).toBeLessThan(1.2 * few);
});

async function peakOfPull(date: CivilDate, size: number) {
  world.sandbox.setDaySize(date, size);
  const { stdout, peakMegabytes } = await runMeasured(
    ['pull', date, '--json'],
    environmentOf(world),
  );
  const { titles, dates } = JSON.parse(stdout);
  // The sandbox withdraws some titles with age.
  expect(titles).toBeGreaterThan(0.9 * size - 1);
  expect(dates).toMatchObject([{ inserted: titles }]);
  return peakMegabytes;
}
