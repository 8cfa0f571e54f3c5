/** The ERP, which may delete rows of `provider`, may also lock the table. */
import { expect, onTestFinished, test } from 'vitest';
import { startAlertLoop } from '../../../src/features/alerts/deliveries.sql.ts';
import { recordingLogger } from '../../support/logger.ts';
import { clientOfFile, worldWithUsers } from '../../support/pull-world.ts';
import { ALERTS_ONLY, readAlerts } from './alert-table.ts';

const world = worldWithUsers();
const erp = clientOfFile(() => world.users.urlOf('erp'));

test('a lock on the table of providers delays the alerts about providers alone', async () => {
  await erp.query(`INSERT INTO conciliation.provider (external_id) VALUES ('F1')`);
  await erp.query('BEGIN; LOCK TABLE conciliation.provider IN ACCESS EXCLUSIVE MODE');
  const fail = (code: string) => world.prisma.$executeRaw`
    INSERT INTO conciliation.pull (origin, date, requested_by, state, fence, error_code)
    VALUES ('manual', '2026-03-02', 'test', 'failed', nextval('conciliation.pull_fence_seq'), ${code})`;
  const alerts = async () => (await readAlerts(world.database)).map(({ dedupe_key }) => dedupe_key);

  const { log, logger } = recordingLogger('warn');
  const loop = startAlertLoop(
    { database: world.database, logger, channels: [], ...ALERTS_ONLY },
    50,
  );
  onTestFinished(() => loop.stop());
  await fail('FIRST');
  await expect.poll(alerts).toEqual(['pull_failed:FIRST']);
  const logged = () => log.map(({ msg }) => msg);
  await expect.poll(logged).toContain('alerts about providers wait for the next round');
  await fail('SECOND');
  await expect.poll(alerts).toContain('pull_failed:SECOND');

  await erp.query('ROLLBACK');
  await world.prisma.$executeRaw`
    UPDATE conciliation.provider SET sync_state = 'rejected'`;
  await expect.poll(alerts).toContain('provider_rejected');
});
