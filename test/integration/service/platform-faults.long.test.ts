/** The behaviour of a running service when the platform fails for longer than all attempts. */
import { describe, expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { predictTitles, readTitles } from '../../support/service-titles.ts';
import {
  eventually,
  inAlertingWorld,
  SANDBOX,
  type ServiceWorld,
} from '../../support/service-world.ts';

/** A Wednesday's noon, so that nothing but the dates since the start is due, no sweep either. */
const NOW = new Date('2026-03-04T15:00:00Z');
const FIRST = toCivilDate('2026-03-01');
const YESTERDAY = toCivilDate('2026-03-03');

describe('a service', () => {
  /** A world in which the dates from `startDate` to yesterday are due. */
  const inWorld = (
    startDate: string,
    more: Readonly<Record<string, string>>,
    use: Parameters<typeof inAlertingWorld>[2],
  ) => {
    const environment = { START_DATE: startDate, LOOKBACK_DAYS: '0', ...more };
    return inAlertingWorld('PostgreSQL', { redisDatabase: 11, now: NOW, environment }, use);
  };

  test('an outage that outlasts every attempt is one alert and ends without a person', () =>
    inWorld(FIRST, { PULL_ATTEMPTS: '3' }, async (world, webhook) => {
      world.sandbox.faults.add({ kind: 'status', status: 500, times: 'forever' });
      await world.start();
      await eventually(async () => {
        const failed = await world.database.prisma.pull.count({ where: { state: 'failed' } });
        expect(failed).toBe(3);
      });
      world.sandbox.faults.clear();
      // As if six minutes had passed.
      await world.database.prisma.$executeRaw`
        UPDATE conciliation.pull SET finished_at = finished_at - interval '6 minutes'`;
      await eventually(async () => expect(await readCheckpoint(world)).toBe(YESTERDAY));
      expect(await readTitles(world.database)).toEqual(predictTitles(SANDBOX, FIRST, YESTERDAY));
      const told = () =>
        webhook.received
          .filter(({ body }) => body.kind === 'pull_failed')
          .map(({ body }) => body.state);
      await eventually(() => expect(told()).toEqual(['raised', 'resolved']));
    }));
});

async function readCheckpoint(world: ServiceWorld): Promise<string | null> {
  const [row] = await world.database.prisma.$queryRaw<{ date: string | null }[]>`
    SELECT last_reconciled_date::text AS date FROM conciliation.checkpoint`;
  return row?.date ?? null;
}
