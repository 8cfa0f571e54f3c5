/** Fields and values outside the documented interface: the rows and the alerts that they cause. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { acknowledgeDrift, readOpenDrift } from '../../../src/features/alerts/alert-list.sql.ts';
import { recordingLogger } from '../../support/logger.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { countWritten } from '../../support/written-rows.ts';
import { expectDerived } from './alert-table.ts';

const TITLES = 200;
const world = worldOfFile();

let date = DAY;
beforeEach(async () => {
  date = daysFrom(1, date);
  await world.prisma.$executeRaw`DELETE FROM conciliation.alert`;
  await world.prisma.$executeRaw`DELETE FROM conciliation.drift`;
});

const derive = (raised: number, resolved: number, open?: readonly string[]) =>
  expectDerived(world.database, [raised, resolved], open);

/** Pulls an answer in which every title of the date has `more` behind its documented fields. */
const pull = (more: (index: number) => string) =>
  world.serve(
    date,
    Array.from({ length: TITLES }, (_, index) =>
      titleText({ uid: `t${index}`, date, more: more(index) }),
    ),
  );

// test/integration/pull/merge.test.ts shows that such a field changes no title and breaks no seal.
test('a field that comes to every title with one value is one alert until a person acknowledges it', async () => {
  await pull(() => '');
  const spring = () => pull(() => ',"campaign":"spring"');
  const pulled = await spring();
  await derive(1, 0, [
    `contract_drift:${pulled.pullId} ${date}: the response to pull ${pulled.pullId} has fields or values that the documented interface does not have: titles[].campaign`,
  ]);
  await spring();
  await derive(0, 0);

  const { items, digest } = await readOpenDrift(world.database);
  expect(items).toMatchObject([
    {
      path: 'titles[].campaign',
      kind: 'unknown_field',
      value: 'string',
      pullId: Number(pulled.pullId),
    },
  ]);
  const decision = { by: 'rita', reason: 'announced', seenDigest: digest };
  expect(await acknowledgeDrift(world.database, decision)).toHaveLength(1);
  await derive(0, 1);
  expect((await readOpenDrift(world.database)).items).toEqual([]);

  // Acknowledged fields stay acknowledged; a new field raises its own alert.
  const { pullId } = await pull(() => ',"campaign":"summer","batch":{"id":7}');
  await derive(1, 0, [
    expect.stringMatching(new RegExp(`^contract_drift:${pullId} .*: titles\\[\\]\\.batch$`)),
  ]);
});

test('a field with another value in every pull writes no title, no history and no further drift', async () => {
  const stamped = (hour: number) =>
    pull((index) => `,"answeredAt":"2026-03-03T${String(hour).padStart(2, '0')}:00:00.${index}Z"`);
  await stamped(1);
  await derive(1, 0);
  for (let hour = 2; hour <= 4; hour += 1) {
    const [, written] = await countWritten(world.database, () => stamped(hour));
    // The row of the pull, and the day's: when it was last compared.
    expect(written).toEqual({ day: 1, pull: 1 });
  }
  await derive(0, 0);
});

test('names that differ with each response become one finding with their number, in 40 pulls', async () => {
  const { log, logger } = recordingLogger('info');
  const random = (names: number) =>
    Array.from({ length: names }, () => `"f${randomUUID()}":1`).join(',');
  const pullRandom = async (names: number) => {
    await world.serve(date, [titleText({ date, more: `,${random(names)}` })], { logger });
  };
  await pullRandom(1_000);
  await derive(1, 0);
  for (let pulls = 1; pulls < 40; pulls += 1) await pullRandom(25);
  const drift = await world.prisma.drift.findMany();
  expect(drift).toMatchObject([{ path: 'titles[].*', value: '*', names: 1_000n + 39n * 25n }]);
  await derive(0, 0);
  expect(log).toHaveLength(40);

  // A few names in each response: rows of their own, as long as there are few.
  for (let pulls = 0; pulls < 12; pulls += 1) await pullRandom(3);
  expect(await world.prisma.drift.count()).toBeLessThanOrEqual(21);
});
