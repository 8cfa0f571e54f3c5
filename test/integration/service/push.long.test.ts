import { expect, test } from 'vitest';
import { forTest } from '../../support/for-tests.ts';
import { cpfOf, providerOf, writeProviders } from '../../support/provider-rows.ts';
import { eventually, nothingDue, openServiceWorld } from '../../support/service-world.ts';

const environment = { ...nothingDue(), ALERT_WEBHOOK_URL: 'http://127.0.0.1:9/' };
const world = forTest(() => openServiceWorld({ environment }));

test('a service keeps the data of the providers out of the log, the jobs, the metrics and the alerts', async () => {
  const service = await world.start({ environment: { LOG_LEVEL: 'trace' } });
  const body = JSON.stringify({ message: `CANARY ${cpfOf(1)}` });
  await write(100);
  await writeProviders(world.database, [
    providerOf(200, { identificationNumber: 'CANARY', name: 'CANARY' }),
  ]);
  for (const status of [500, 400, 500]) {
    world.sandbox.faults.add({ kind: 'status', status, body });
  }
  await makeDue();
  await expectStates({ synced: 100, invalid: 1 });
  world.sandbox.faults.add({ kind: 'status', status: 400, body });
  await writeProviders(world.database, [providerOf(1, { name: 'CANARY too' })]);
  await makeDue();
  await expectStates({ synced: 99, rejected: 1, invalid: 1 });
  // A push that is due in a minute has a waiting job.
  await writeProviders(world.database, [providerOf(300)]);
  const jobs = await eventually(async () => {
    const { rows } = await world.database.pool.query<{ text: string }>(
      'SELECT row_to_json(job)::text AS text FROM conciliation_queue.job',
    );
    const dump = rows.map(({ text }) => text).join('\n');
    expect(dump).toMatch(/\bpush\b/);
    return dump;
  });
  await eventually(async () => expect(await openAlerts()).toEqual(['provider_rejected']));

  const metrics = await (await fetch(`${service.consoleUrl()}/metrics`)).text();
  expect(metrics).toMatch(/^conciliation_providers\{state="rejected"\} 1$/m);
  expect(metrics).toMatch(/^conciliation_platform_responses_total\{status="400"\} 2$/m);
  const alerts = await world.database.prisma.$queryRaw<unknown[]>`
          SELECT row_to_json(alert)::text AS text FROM conciliation.alert`;
  const audit = await world.database.prisma.$queryRaw<unknown[]>`
          SELECT row_to_json(entry)::text AS text FROM conciliation.audit_entry AS entry`;
  const texts = {
    metrics,
    jobs,
    log: JSON.stringify(service.log),
    alerts: JSON.stringify(alerts),
    audit: JSON.stringify(audit),
  };
  for (const [where, text] of Object.entries(texts)) {
    expect(text.length, where).toBeGreaterThan(100);
    for (const secret of SECRETS) {
      expect(text.includes(secret), `${secret} in the ${where}`).toBe(false);
    }
  }
});

/** The personal data in `providerOf` and in the platform's answers. */
const SECRETS = [
  'CANARY',
  'canary',
  '91234-5678',
  '912345678',
  '7654321',
  cpfOf(1),
  cpfOf(200),
  providerOf(1).externalId,
  providerOf(200).externalId,
];

/** Writes rows that do not become due by their age while a test runs, however slow the machine is. */
async function write(count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, number) => providerOf(number));
  await world.database.prisma.$transaction(async (transaction) => {
    await writeProviders({ prisma: transaction }, rows);
    await transaction.$executeRaw`
      UPDATE conciliation.provider SET changed_at = changed_at + interval '1 hour'
      WHERE sync_state = 'pending'`;
  });
}

/** As if the ERP had written everything that is pending over a minute ago. */
async function makeDue(): Promise<void> {
  await world.database.prisma.$executeRaw`
    UPDATE conciliation.provider SET changed_at = clock_timestamp() - interval '61 seconds'
    WHERE sync_state = 'pending'`;
}

async function expectStates(states: Readonly<Record<string, number>>): Promise<void> {
  await eventually(async () => {
    const rows = await world.database.prisma.$queryRaw<{ state: string; providers: number }[]>`
      SELECT sync_state AS state, count(*)::int AS providers FROM conciliation.provider GROUP BY 1`;
    expect(Object.fromEntries(rows.map((row) => [row.state, row.providers]))).toEqual(states);
  }, 900_000);
}

async function openAlerts(): Promise<string[]> {
  const alerts = await world.database.prisma.$queryRaw<{ kind: string }[]>`
    SELECT kind FROM conciliation.alert WHERE resolved_at IS NULL ORDER BY id`;
  return alerts.map(({ kind }) => kind);
}
