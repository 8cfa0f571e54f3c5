/** Services with nothing configured but the platform: the database is theirs to stop. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openFolder } from '../../support/for-tests.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { startSandbox } from '../../support/sandbox/sandbox.ts';
import { errorsOf, type ServiceProcess, spawnService } from '../../support/service-process.ts';
import { dueSince, eventually, SANDBOX } from '../../support/service-world.ts';

const DUE = 3;

test('shares its data folder with another, and the last one stops the database, in good order', async () => {
  const { path: dataDir, close: removeFolder } = await openFolder();
  const sandbox = await startSandbox(SANDBOX);
  const processes: ServiceProcess[] = [];
  const spawn = () => {
    const process = spawnService({
      overrides: null,
      environment: {
        DATA_DIR: dataDir,
        PLATFORM_BASE_URL: sandbox.baseUrl,
        PLATFORM_TOKEN: sandbox.issueToken(),
        CONSOLE_PORT: '0',
        ...dueSince(daysFrom(-DUE, TODAY)),
      },
    });
    processes.push(process);
    return process;
  };
  onTestFinished(async () => {
    await Promise.all(processes.map((process) => process.kill()));
    await sandbox.close();
    await removeFolder();
  });
  const service = spawn();
  await eventually(() => expect(service.logged('pull ended')).toHaveLength(DUE));

  expect(
    service.logged('there is no console user yet: conciliation user add <name> --role admin'),
  ).toHaveLength(1);

  const second = spawn();
  await eventually(() => expect(second.logged('service started')).toHaveLength(1));

  for (const each of [service, second]) {
    each.send('SIGTERM');
    expect(await each.ended).toEqual({ exit: 0, signal: null, text: '' });
    expect(each.log.at(-1)?.msg).toBe('service stopped');
    expect(errorsOf(each)).toEqual([]);
    expect(each.logged('database connection lost')).toEqual([]);
  }
  const serverLog = await readFile(join(dataDir, 'postgres.log'), 'utf8');
  // Before, a client that waits for the server may connect too early. Afterwards, the one session that it has
  // to end itself is that which kept others from the folder till then.
  const [, sinceReady = ''] = serverLog.split('ready to accept connections');
  // The server may log a refusal from before after the line that it is ready.
  const faults = (sinceReady.match(/(FATAL|ERROR|PANIC):.*/g) ?? []).filter(
    (fault) => !fault.includes('the database system is starting up'),
  );
  expect(faults).toEqual(['FATAL:  terminating connection due to administrator command']);
  expect(serverLog.trimEnd()).toMatch(/database system is shut down$/);
});
