import { expect, test } from 'vitest';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';

const world = worldOfFile();

async function release(date: typeof DAY): Promise<void> {
  await pullDay(world, date, { uid: 'a' }, { uid: 'b' });
  await signDay(world.database, date);
}

test('a release wakes the listeners once, with consumer and position only', async () => {
  const client = await world.database.connect();
  const messages: string[] = [];
  client.on('notification', ({ payload }) => messages.push(String(payload)));
  try {
    await client.query('LISTEN conciliation_booking');
    await release(DAY);
    const { lines, next } = await readFeed(world.database, 'erp', { after: 0n, limit: 10 });
    expect(lines).toHaveLength(2);
    await expect.poll(() => messages).toEqual([`{"consumer":"erp","seq":"${next}"}`]);
    await client.query('UNLISTEN conciliation_booking');
    // A wake-up that no session receives loses no line.
    await release(daysFrom(1, DAY));
    const later = await readFeed(world.database, 'erp', { after: BigInt(next), limit: 10 });
    expect(later.lines).toHaveLength(2);
    expect(messages).toHaveLength(1);
  } finally {
    client.release(true);
  }
});
