/** The service as it should be run: a user of the database who can do no more than the service has to. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifyAuditChain } from '../../../src/base/audit/audit-chain.sql.ts';
import { runCommand } from '../../support/child-command.ts';
import { queryOnce } from '../../support/client.ts';
import { createRoleUsers } from '../../support/database-roles.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { providerOf, readProviders } from '../../support/provider-rows.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { errorsOf } from '../../support/service-process.ts';
import { dueSince, eventually, openServiceWorld } from '../../support/service-world.ts';

const folder = forFile(openFolder);

test('the service and every command do all their work as the worker’s user, who owns nothing', async () => {
  const world = await openServiceWorld({ environment: dueSince(daysFrom(-3, TODAY)) });
  const owned = await runCommand(['migrate', '--roles'], { DATABASE_URL: world.databaseUrl });
  expect(owned).toMatchObject({ exit: 0, stderr: '' });
  const users = await createRoleUsers(world.databaseUrl);
  const environment = {
    DATABASE_URL: users.urlOf('worker'),
    PLATFORM_BASE_URL: world.sandbox.baseUrl,
    PLATFORM_TOKEN: world.sandbox.issueToken(),
  };
  const command = async (...args: string[]) => {
    const { exit, stderr } = await runCommand(args, environment);
    // A slow machine shows the progress of a backfill.
    const shown = stderr.replace(/^backfill .*\n/gm, '');
    expect({ args, exit, stderr: shown }).toEqual({ args, exit: 0, stderr: '' });
  };
  onTestFinished(async () => {
    await world.close();
    await users.close();
  });
  const service = await world.start({ environment });
  await queryOnce(
    users.urlOf('erp'),
    `INSERT INTO conciliation.provider (external_id, name) VALUES ('F7', 'CANARY')`,
  );
  await eventually(async () => {
    const days = await world.prisma.day.findMany({ where: { state: 'reconciled' } });
    expect(days).toHaveLength(3);
  });

  const file = join(folder.path, 'providers.json');
  await writeFile(file, JSON.stringify([providerOf(1), providerOf(2)]));
  const [yesterday, before] = [daysFrom(-1, TODAY), daysFrom(-2, TODAY)];
  await command('providers', 'import', file);
  await command('pull', yesterday);
  await command('backfill', 'run', '--from', before, '--to', yesterday);
  await command('user', 'add', 'ana', '--role', 'admin');
  await command('key', 'add', 'script', '--role', 'viewer', '--scopes', 'read');
  const exportRange = ['--from', before, '--to', yesterday];
  await command('export', ...exportRange, '--format', 'csv', '--out', join(folder.path, 'x'));
  await command('status');
  await command('verify', '--audit');

  // The attack that the verification is for: the service's own user changes an amount.
  await queryOnce(
    users.urlOf('worker'),
    `UPDATE conciliation.title SET original_value = original_value + 1 WHERE accepted_date = '${before}'`,
  );
  const verified = await runCommand(['verify', '--from', before, '--to', before], environment);
  expect(verified).toMatchObject({ exit: 3 });
  await eventually(async () => {
    const again = await runCommand(['verify', '--from', before, '--to', before], environment);
    expect(again).toMatchObject({ exit: 0 });
  });
  world.sandbox.faults.add({ kind: 'status', status: 400, operation: 'providers' });
  await world.prisma.$executeRaw`
    UPDATE conciliation.provider SET changed_at = now() - interval '1 hour'`;
  await eventually(async () => {
    const states = [...(await readProviders(world.database)).values()].map(({ state }) => state);
    expect(states.sort()).toEqual(['invalid', 'synced', 'synced']);
  });
  const metrics = await (await fetch(`${service.consoleUrl()}/metrics`)).text();
  expect(metrics).toMatch(/^conciliation_platform_responses_total\{status="400"\} 1$/m);
  await eventually(async () => {
    const [backfill] = await world.prisma.backfill.findMany();
    expect(backfill?.state).toBe('done');
  });

  const sessions = await world.prisma.$queryRaw<{ usename: string }[]>`
    SELECT DISTINCT usename FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'conciliation%'`;
  expect(sessions).toEqual([{ usename: users.nameOf('worker') }]);
  expect(errorsOf(service)).toEqual([]);
  expect((await verifyAuditChain(world.database)).fault).toBeNull();
  service.send('SIGTERM');
  expect((await service.ended).exit).toBe(0);
});
