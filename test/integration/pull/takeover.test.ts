/** A worker that stood still while its pull was taken over by one that has not ended yet. */
import { expect, test } from 'vitest';
import { PlatformUnavailableError, StaleFenceError } from '../../../src/base/runtime/errors.ts';
import { startAttempt } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

test.each([
  ['whole', 0],
  ['cut', 1],
] as const)('changes nothing of it, its answer being %s', async (answer, index) => {
  const date = daysFrom(index, DAY);
  world.sandbox.setDayTexts(date, [titleText({ date })]);
  const pullId = await world.newPull(date);
  // Each request is sent, and before its response is read, another process takes the pull over.
  const takenOver = world.meanwhile(async () => {
    await startAttempt(world.database, pullId);
    if (answer === 'cut') throw new PlatformUnavailableError('the transfer was cut');
  });
  await expect(world.run(pullId, takenOver)).rejects.toThrow(StaleFenceError);
  expect(await world.database.prisma.title.count({ where: { acceptedDate: date } })).toBe(0);
  const pull = await world.database.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
  expect(pull).toMatchObject({ state: 'running', attempts: 0, errorCode: null });
  const staged = await world.database.prisma.$queryRaw`
    SELECT FROM conciliation.staged_title WHERE fence <> ${pull.fence}`;
  expect(staged).toEqual([]);

  const report = await world.run(pullId);
  expect(report).toMatchObject({ kind: 'done', report: { state: 'merged' } });
});

test('whose attempts end their process three times in a row has failed, and is not planned again', async () => {
  const date = daysFrom(5, DAY);
  world.sandbox.setDayTexts(date, [titleText({ date })]);
  const { database } = world;
  const pullId = await world.newPull(date);
  const abandonInOtherProcess = async () => {
    await startAttempt(database, pullId);
    await database.prisma.$executeRaw`
      UPDATE conciliation.pull SET process_id = gen_random_uuid() WHERE id = ${pullId}`;
  };
  for (let attempt = 0; attempt < 3; attempt++) await abandonInOtherProcess();
  world.sandbox.faults.add({ kind: 'status', status: 500, date });
  expect(await world.run(pullId)).toMatchObject({ kind: 'failed' });
  const pull = await database.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
  expect(pull).toMatchObject({
    state: 'failed',
    errorCode: 'ATTEMPT_ABANDONED',
    errorMessage: `3 attempts at ${date} ended their process, for example for want of memory`,
  });
  world.sandbox.faults.clear();
  expect(await world.pull(date)).toMatchObject({ state: 'merged' });
});

test('is not set aside where its own process takes it up again, or an outcome came between', async () => {
  const date = daysFrom(6, DAY);
  world.sandbox.setDayTexts(date, [titleText({ date })]);
  const { database } = world;
  const pullId = await world.newPull(date);
  for (let attempt = 0; attempt < 5; attempt++) await startAttempt(database, pullId);
  await database.prisma.$executeRaw`
    UPDATE conciliation.pull SET process_id = gen_random_uuid(), abandoned = 1 WHERE id = ${pullId}`;
  world.sandbox.faults.add({ kind: 'status', status: 500, date });
  expect(await world.run(pullId)).toMatchObject({ kind: 'retry' });
  const pull = await database.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
  expect(pull).toMatchObject({ state: 'queued', abandoned: 0 });
  expect(await world.run(pullId)).toMatchObject({ kind: 'done' });
});
