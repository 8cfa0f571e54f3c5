import { expect } from 'vitest';
import type { Database } from '../../src/base/database/database.ts';

/** Resolves when so many sessions of the database wait for a lock. */
export const lockWaits = ({ prisma }: Database, sessions = 1): Promise<void> =>
  expect
    .poll(async () => {
      const [row] = await prisma.$queryRaw<[{ waiting: number }]>`
        SELECT count(*)::int AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return row.waiting;
    })
    .toBe(sessions);
