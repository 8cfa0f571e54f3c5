/** A service sends the daily digest of the latest slot to the channels that the configuration names. */
import { expect, test } from 'vitest';
import { eventually, FAST, nothingDue, openServiceWorld } from '../../support/service-world.ts';
import { startHttpReceiver } from '../alerts/receivers.ts';

test('two processes send the digest once, with the headline', async () => {
  const [slack, teams] = await Promise.all([startHttpReceiver(), startHttpReceiver()]);
  const world = await openServiceWorld('PostgreSQL', {
    redisDatabase: 12,
    environment: {
      ...nothingDue(),
      ALERT_SLACK_URL: slack.url.href,
      ALERT_TEAMS_URL: teams.url.href,
      ALERT_LANGUAGE: 'pt-BR',
      DIGEST_CHANNELS: 'slack',
      // A slot each minute, so that the test does not depend on the hour.
      DIGEST_CRON: '* * * * *',
    },
  });
  try {
    // A ledger that is younger than the slot has no digest.
    await world.database.prisma.$executeRaw`
      INSERT INTO conciliation.pull (origin, date, requested_by, created_at)
      VALUES ('manual', '2026-03-01', 'test', now() - interval '1 day')`;
    const first = await world.start({ overrides: FAST });
    await world.start({ overrides: FAST });
    await eventually(() => expect(JSON.stringify(slack.bodies)).toContain('Conciliação em'));
    const slots = await world.database.prisma.$queryRaw<{ sent: number; slots: number }[]>`
      SELECT count(*)::int AS sent, count(DISTINCT slot_at)::int AS slots FROM conciliation.digest_delivery
      WHERE delivered_at IS NOT NULL`;
    expect(slots[0]?.sent).toBe(slots[0]?.slots);
    const digests = slack.bodies.filter((body) => JSON.stringify(body).includes('Conciliação em'));
    expect(digests).toHaveLength(slots[0]?.slots ?? 0);
    expect(JSON.stringify(teams.bodies)).not.toContain('Conciliação em');
    expect(JSON.stringify(first.log)).not.toContain('secret-path');
  } finally {
    await world.close();
    await Promise.all([slack.close(), teams.close()]);
  }
});
