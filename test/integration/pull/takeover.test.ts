/** A worker that stood still while its pull was taken over by one that has not ended yet. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPull, startAttempt } from '../../../src/ledger/pull-ledger.sql.ts';
import type { PullParts } from '../../../src/pull/pull-parts.ts';
import { runPull } from '../../../src/pull/run-pull.ts';
import { PlatformUnavailableError, StaleFenceError } from '../../../src/runtime/errors.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

/** Whoever asks the platform has its pull taken over before the answer is read. */
function takenOver(pullId: bigint, answer: 'whole' | 'cut'): Pick<PullParts, 'platform'> {
  const { platform } = world;
  return {
    platform: {
      ...platform,
      async fetchTitles(window, signal) {
        const response = await platform.fetchTitles(window, signal);
        await startAttempt(world.database, pullId);
        if (answer === 'cut') throw new PlatformUnavailableError('the transfer was cut');
        return response;
      },
    },
  };
}

test.each([
  ['whole', 0],
  ['cut', 1],
] as const)('changes nothing of it, its answer being %s', async (answer, index) => {
  const date = daysFrom(index, DAY);
  world.sandbox.setDayTexts(date, [titleText({ date })]);
  const pullId = await createPull(world.database, {
    origin: 'manual',
    date,
    requestedBy: 'test',
  });
  const stale = runPull(
    { ...world.parts, ...takenOver(pullId, answer) },
    pullId,
    new AbortController().signal,
  );
  await expect(stale).rejects.toThrow(StaleFenceError);
  expect(await world.database.prisma.title.count({ where: { acceptedDate: date } })).toBe(0);
  const pull = await world.database.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
  expect(pull).toMatchObject({ state: 'running', attempts: 0, errorCode: null });
  const staged = await world.database.prisma.$queryRaw`
    SELECT FROM conciliation.staged_title WHERE fence <> ${pull.fence}`;
  expect(staged).toEqual([]);

  const report = await runPull(world.parts, pullId, new AbortController().signal);
  expect(report).toMatchObject({ kind: 'done', report: { state: 'merged' } });
});
