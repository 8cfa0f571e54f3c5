import { join } from 'node:path';
import {
  GenericContainer,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addDays,
  type CivilDate,
  datesBetween,
  lastClosedDate,
} from '../../src/base/values/business-day.ts';
import { queryOnce } from '../support/client.ts';
import { IMAGE } from '../support/container-setup.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { outputOf } from '../support/program.ts';
import { askConsole } from './ask-console.ts';
import { describeContainer } from './describe-container.ts';

/** The image as a hardened host runs it: it may write to /tmp and nowhere else. */
class HardenedContainer extends GenericContainer {
  constructor(image: string) {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
    this.hostConfig.SecurityOpt = ['no-new-privileges:true'];
    this.withDroppedCapabilities('ALL').withTmpFs({ '/tmp': 'rw' });
  }
}

const ROOT = join(import.meta.dirname, '../..');
const PASSWORD = 'only-for-tests';
const STARTUP_MS = 120_000;

/** As compose/logins.sql makes them. */
const LOGINS = `
  CREATE ROLE conciliation_worker;
  CREATE ROLE conciliation_finance;
  CREATE ROLE conciliation_erp;
  CREATE ROLE migrator LOGIN PASSWORD '${PASSWORD}';
  CREATE ROLE worker LOGIN PASSWORD '${PASSWORD}' IN ROLE conciliation_worker;`;

/** PostgreSQL, Redis and a sandbox in containers, and the service beside them, as the login of the worker. */
async function openServiceStack(startDate: CivilDate) {
  const network = await new Network().start();
  const started: { stop(): Promise<unknown> }[] = [network];
  const close = async () => {
    for (const part of started.toReversed()) await part.stop();
  };
  try {
    const [postgres, redis, sandbox] = await Promise.all([
      startPostgres(network),
      startRedis(network),
      startSandbox(network),
    ]);
    started.push(postgres, redis, sandbox);
    await queryOnce(urlOf(postgres, 'postgres'), LOGINS);
    await queryOnce(urlOf(postgres, 'postgres'), 'CREATE DATABASE erp OWNER migrator');
    const token = await outputOf('docker', [
      ...['exec', sandbox.getId(), 'node', '--input-type=module', '--eval'],
      `console.log(await (await fetch('http://127.0.0.1:8082')).text())`,
    ]);
    const addresses = (login: string) => ({
      DATABASE_URL: `postgresql://${login}:${PASSWORD}@postgres:5432/erp`,
      REDIS_URL: 'redis://redis:6379',
      // Both are on a network of this test's own.
      ALLOW_PLAINTEXT: 'postgres,redis',
    });
    const migration = await new HardenedContainer(IMAGE)
      .withNetwork(network)
      .withEnvironment(addresses('migrator'))
      .withCommand(['migrate', '--roles'])
      .withWaitStrategy(Wait.forOneShotStartup())
      .withStartupTimeout(STARTUP_MS)
      .start();
    started.push(migration);
    // Plain http is for loopback only, so the service lives in the sandbox's network.
    const service = await new HardenedContainer(IMAGE)
      .withNetworkMode(`container:${sandbox.getId()}`)
      .withEnvironment({
        ...addresses('worker'),
        PLATFORM_BASE_URL: 'http://127.0.0.1:8081',
        PLATFORM_TOKEN: token,
        START_DATE: startDate,
      })
      .withWaitStrategy(Wait.forHealthCheck())
      .withStartupTimeout(STARTUP_MS)
      .start();
    started.push(service);
    return {
      consoleUrl: `http://${sandbox.getHost()}:${sandbox.getMappedPort(8080)}`,
      /** The rows of a query. */
      query: (statement: string) => queryOnce(urlOf(postgres, 'erp'), statement),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function startPostgres(network: StartedNetwork): Promise<StartedTestContainer> {
  return new GenericContainer('postgres:18-bookworm')
    .withNetwork(network)
    .withNetworkAliases('postgres')
    .withEnvironment({ POSTGRES_PASSWORD: PASSWORD })
    .withExposedPorts(5432)
    .withHealthCheck({
      test: ['CMD', 'pg_isready', '-h', '127.0.0.1', '-U', 'postgres'],
      interval: 1_000,
      timeout: 5_000,
      retries: 60,
      startPeriod: 0,
    })
    .withWaitStrategy(Wait.forHealthCheck())
    .withStartupTimeout(STARTUP_MS)
    .start();
}

function startRedis(network: StartedNetwork): Promise<StartedTestContainer> {
  return new GenericContainer('redis:8-bookworm')
    .withNetwork(network)
    .withNetworkAliases('redis')
    .withCommand(['redis-server', '--maxmemory-policy', 'noeviction'])
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
    .withStartupTimeout(STARTUP_MS)
    .start();
}

/** The tests' sandbox, on the Node and the packages of the image. */
function startSandbox(network: StartedNetwork): Promise<StartedTestContainer> {
  const folders = ['src', 'test/support/sandbox'];
  return new GenericContainer(IMAGE)
    .withNetwork(network)
    .withNetworkAliases('sandbox')
    .withCopyDirectoriesToContainer(
      folders.map((folder) => ({
        source: join(ROOT, folder),
        target: `/app/${folder}`,
        mode: 0o755,
      })),
    )
    .withEntrypoint(['node', 'test/support/sandbox/process.ts'])
    .withCommand(['8081', '8082'])
    .withExposedPorts(8080)
    .withWaitStrategy(Wait.forLogMessage('The sandbox serves at'))
    .withStartupTimeout(STARTUP_MS)
    .start();
}

const urlOf = (postgres: StartedTestContainer, database: string) =>
  `postgresql://postgres:${PASSWORD}@${postgres.getHost()}:${postgres.getMappedPort(5432)}/${database}`;

// The stop of a pull is tested in test/integration/service, and that of a container in compose.test.ts.
describeContainer('the service in a container', () => {
  const yesterday = lastClosedDate('America/Sao_Paulo', new Date());
  const startDate = addDays(yesterday, -9);
  let stack: Awaited<ReturnType<typeof openServiceStack>>;

  beforeAll(async () => {
    stack = await openServiceStack(startDate);
  });
  afterAll(() => stack?.close());

  test('is healthy by its own check, and ready', async () => {
    // Starting has waited for the health check of the image.
    expect(await askConsole(stack.consoleUrl, '/readyz')).toMatchObject({ status: 200 });
  });

  test('reconciles every date from START_DATE to yesterday', async () => {
    const reconciled = datesBetween(startDate, yesterday).map((date) => ({
      date,
      state: 'reconciled',
    }));
    const readDays = () =>
      stack.query(`
        SELECT date::text, state FROM conciliation.day WHERE date <= '${yesterday}' ORDER BY date`);
    await expect.poll(readDays, { timeout: PATIENCE_MS, interval: 250 }).toEqual(reconciled);
  });
});
