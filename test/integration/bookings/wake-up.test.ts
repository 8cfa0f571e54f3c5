import { Client } from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { migrate } from '../../../src/base/database/migrate.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { createRoleUsers } from '../../support/database-roles.ts';
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

test('the role of the service wakes the role of the ERP', async () => {
  const { databaseUrl } = world;
  await migrate({ databaseUrl, logger: pino({ level: 'silent' }), roles: true });
  const users = await createRoleUsers(databaseUrl);
  const [service, erp] = (['worker', 'erp'] as const).map(
    (role) => new Client({ connectionString: users.urlOf(role) }),
  );
  try {
    await Promise.all([service?.connect(), erp?.connect()]);
    const message = new Promise((resolve) => {
      erp?.once('notification', ({ payload }) => resolve(JSON.parse(String(payload))));
    });
    await erp?.query('LISTEN conciliation_booking');
    const offered = await service?.query<{ seq: string }>(`
      INSERT INTO conciliation.booking_offer (line_id) SELECT min(id) FROM conciliation.booking_line
      RETURNING seq::text AS seq`);
    expect(await message).toEqual({ consumer: 'erp', seq: offered?.rows[0]?.seq });
  } finally {
    await Promise.all([service?.end(), erp?.end()]);
    await users.drop();
  }
});
