/** A login that may only read can keep PostgreSQL's queue of notifications from being emptied. The alert names its session. */
import { expect, test, vi } from 'vitest';
import { openDatabase } from '../../../src/base/database/database.ts';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { forFile } from '../../support/for-tests.ts';
import { logger } from '../../support/logger.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { clientOfFile, worldWithUsers } from '../../support/pull-world.ts';
import { NEVER_STALE, openAlerts } from './alert-table.ts';

const { users } = worldWithUsers();
const service = forFile(async () =>
  openDatabase({
    databaseUrl: users.urlOf('worker'),
    applicationName: 'conciliation test',
    logger,
  }),
);
const listener = clientOfFile(() => users.urlOf('finance'));
const sender = clientOfFile(() => users.urlOf('erp'));

/** The messages of the open alerts. The whole queue has 8 GB, and the test fills 4 MB of it. */
async function derive(): Promise<string[]> {
  await deriveAlerts(service, new Date(), { ...NEVER_STALE, notificationsLimit: 0.0002 });
  return (await openAlerts(service)).map(({ message }) => message);
}

const send = () =>
  sender.query(`
    SELECT pg_notify('flood', lpad(i::text, 7900, '.')) FROM generate_series(1, 500) AS i`);

test('notifications that a session keeps raise an alert with its number and user', async () => {
  await listener.query('LISTEN flood');
  await send();
  // A session outside of a transaction reads what was sent.
  await listener.query('SELECT');
  expect(await derive()).toEqual([]);
  await listener.query('BEGIN');
  await send();
  const { rows } = await listener.query('SELECT pg_backend_pid() AS pid');
  // The alert names three sessions. Those of other tests on the server end.
  await vi.waitFor(
    async () =>
      expect(await derive()).toEqual([
        expect.stringMatching(`${rows[0].pid} \\(${users.nameOf('finance')}\\)`),
      ]),
    PATIENCE_MS,
  );
  await listener.query('COMMIT');
  expect(await derive()).toEqual([]);
});
