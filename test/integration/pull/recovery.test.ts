import { expect, test } from 'vitest';
import { type Database, toStagingError } from '../../../src/base/database/database.ts';
import { discardStrayRows } from '../../../src/core/ledger/discard-staged.sql.ts';
import { runPull } from '../../../src/core/work/run-pull.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const world = worldOfFile();

/** Prisma over a connection that is lost at the worst moment: after COMMIT, before its reply. */
function losingReplyOfCommit(prisma: Database['prisma']): Database['prisma'] {
  return new Proxy(prisma, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key !== '$transaction' || typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        await value.apply(target, args);
        throw toStagingError(
          Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' }),
        );
      };
    },
  });
}

test('a merge whose COMMIT arrived but whose reply was lost is reported with its result', async () => {
  world.sandbox.setDayTexts(DAY, [titleText()]);
  const pullId = await world.newPull(DAY);
  let calls = 0;
  const lossy = losingReplyOfCommit(world.database.prisma);
  const database: Database = {
    pool: world.database.pool,
    connect: () => world.database.connect(),
    close: () => world.database.close(),
    get prisma() {
      calls += 1;
      // The claim is the first use, the merge the second; all that follows has a connection again.
      return calls === 2 ? lossy : world.database.prisma;
    },
  };
  const outcome = await runPull({ ...world.parts, database }, pullId, new AbortController().signal);
  expect(outcome).toMatchObject({
    kind: 'done',
    report: { state: 'merged', date: DAY, inserted: 1, withheld: 0 },
  });
  const pull = await world.database.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
  expect(pull).toMatchObject({ state: 'merged', attempts: 1, errorCode: null });
});

test('the staged rows of a killed process are removed, those of running and held pulls stay', async () => {
  const date = daysFrom(1);
  const ten = titleTexts(10, { date });
  await world.serve(date, ten);
  const restated = titleText({ date, uid: 't0', discount: '1.5' });
  expect((await world.serve(date, [restated, ...ten.slice(6)])).state).toBe('held');
  const staged = ['staged_title', 'staged_base', 'staged_missing'];
  for (const table of staged) {
    await world.database.prisma.$executeRawUnsafe(
      `INSERT INTO conciliation.${table}
       SELECT (jsonb_populate_record(staged, '{"fence": 999999}')).* FROM conciliation.${table} staged`,
    );
  }
  expect(await discardStrayRows(world.database)).toBe(1);
  expect(await discardStrayRows(world.database)).toBe(0);
  const rows = staged.map(
    async (table) =>
      await world.database.prisma.$queryRawUnsafe(
        `SELECT count(*)::int AS rows FROM conciliation.${table}`,
      ),
  );
  // One title differs, and six texts are missing: that of the one, and those of the five.
  expect(await Promise.all(rows)).toEqual([[{ rows: 1 }], [{ rows: 1 }], [{ rows: 6 }]]);
});

test('a restated day of many titles is planned without comparing each with each', async () => {
  const date = daysFrom(2);
  const titles = (discount: string) =>
    Array.from({ length: 10_000 }, (_, index) =>
      titleText({ date, uid: `t${index}`, value: `${(index % 2) + Number(discount)}` }),
    );
  await world.serve(date, titles('10'));
  // Half of the titles get another identity: as many go as come.
  const report = await world.serve(date, titles('11'), { withdrawalLimitPercent: 100 });
  expect(report).toMatchObject({ inserted: 10_000, withdrawn: 10_000 });
});
