import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/base/database/database.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { startTransactionPooler } from '../../support/transaction-pooler.ts';

const world = worldOfFile();

/** The database of a process. */
const open = (databaseUrl: string): Database =>
  openDatabase({
    databaseUrl,
    applicationName: 'test',
    maxConnections: 2,
    logger: pino({ level: 'silent' }),
  });

test.each([
  { first: 0, resets: 'nothing', resetQuery: null },
  { first: 10, resets: 'the session', resetQuery: 'DISCARD ALL' },
])(
  'two processes pull new dates behind a pooler of transactions that resets $resets',
  async ({ first, resetQuery }) => {
    const pooler = await startTransactionPooler(world.databaseUrl, resetQuery);
    const processes = [open(pooler.url), open(pooler.url)];
    try {
      for (let index = first; index < first + 6; index += 1) {
        const date = daysFrom(index);
        const database = processes[index % 2] as Database;
        world.sandbox.setDayTexts(date, [titleText({ date }), titleText({ date, uid: 'order-2' })]);
        expect(await world.pull(date, { database })).toMatchObject({
          state: 'merged',
          inserted: 2,
        });
      }
    } finally {
      for (const database of processes) await database.close();
      await pooler.close();
    }
  },
);
