/** A service sends the daily digest of the latest slot to the channels. */
import { expect, test } from 'vitest';
import { eventually, FAST, nothingDue, openServiceWorld } from '../../support/service-world.ts';
import { startHttpReceiver } from '../alerts/receivers.ts';

/** A time zone in which the time of the digest was less than an hour ago. */
function zoneAtEight(): string {
  const hours = ((8 - new Date().getUTCHours() + 36) % 24) - 12;
  return `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
}

test('processes that start after the time send the digest once, with the headline, also after a restart', async () => {
  const [slack, teams] = await Promise.all([startHttpReceiver(), startHttpReceiver()]);
  const world = await openServiceWorld('PostgreSQL', {
    redisDatabase: 12,
    environment: {
      ...nothingDue(),
      TIMEZONE: zoneAtEight(),
      ALERT_SLACK_URL: slack.url.href,
      ALERT_TEAMS_URL: teams.url.href,
      ALERT_LANGUAGE: 'pt-BR',
      DIGEST: 'on',
    },
  });
  const digestsOf = ({ bodies }: typeof slack) =>
    bodies.filter((body) => JSON.stringify(body).includes('Conciliação em'));
  /** An alert that a round of the service sends, after which the next round begins. */
  const failPull = async (code: string) => {
    await world.database.prisma.$executeRaw`
      INSERT INTO conciliation.pull (origin, date, requested_by, state, fence, error_code)
      VALUES ('manual', '2026-03-01', 'test', 'failed', nextval('conciliation.pull_fence_seq'), ${code})`;
    await eventually(() => expect(JSON.stringify(teams.bodies)).toContain(code));
  };
  try {
    // A ledger that is younger than the slot has no digest.
    await world.database.prisma.$executeRaw`
      INSERT INTO conciliation.pull (origin, date, requested_by, created_at)
      VALUES ('manual', '2026-03-01', 'test', now() - interval '1 day')`;
    const first = await world.start({ overrides: FAST });
    const second = await world.start({ overrides: FAST });
    const { digestDelivery } = world.database.prisma;
    const sent = () => digestDelivery.count({ where: { deliveredAt: { not: null } } });
    await eventually(async () => expect(await sent()).toBe(2));
    expect(digestsOf(slack)).toHaveLength(1);
    expect(digestsOf(teams)).toHaveLength(1);
    expect(JSON.stringify(digestsOf(slack))).toContain('ainda sem dados');
    await Promise.all([first.kill(), second.kill()]);

    const third = await world.start({ overrides: FAST });
    await failPull('AFTER_RESTART');
    await failPull('A_ROUND_LATER');
    expect(digestsOf(slack)).toHaveLength(1);
    expect(digestsOf(teams)).toHaveLength(1);
    expect(await digestDelivery.count()).toBe(2);
    expect(JSON.stringify([first.log, third.log])).not.toContain('secret-path');
  } finally {
    await world.close();
    await Promise.all([slack.close(), teams.close()]);
  }
});
