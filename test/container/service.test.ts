import { join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import {
  GenericContainer,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, lastClosedDate } from '../../src/base/values/business-day.ts';
import { datesBetween } from '../../src/core/planner/pull-plan.ts';
import { IMAGE } from '../support/container-setup.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { outputOf, runProgram } from '../support/program.ts';
import type { Fault } from '../support/sandbox/faults.ts';
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

type ServiceStack = Awaited<ReturnType<typeof openServiceStack>>;

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

/** PostgreSQL, Redis and a sandbox in containers, and the service beside them. */
async function openServiceStack() {
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
    await withClient(postgres, 'postgres', (client) => client.query(LOGINS));
    const control = (options: object) =>
      outputOf('docker', [
        ...['exec', sandbox.getId(), 'node', '--input-type=module', '--eval'],
        `const answer = await fetch('http://127.0.0.1:8082', ${JSON.stringify(options)});
         if (!answer.ok) process.exit(1);
         console.log(await answer.text());`,
      ]);
    const token = (await control({ method: 'GET' })).trim();

    return {
      /** The console of the service that runs. */
      consoleUrl: `http://${sandbox.getHost()}:${sandbox.getMappedPort(8080)}`,
      /** Starts a service as the worker's login on a new database of that name. One at a time: they share the console's port. */
      async startService(databaseName: string, environment: Readonly<Record<string, string>>) {
        await withClient(postgres, 'postgres', (client) =>
          client.query(`CREATE DATABASE ${databaseName} OWNER migrator`),
        );
        const addresses = (login: string) => ({
          DATABASE_URL: `postgresql://${login}:${PASSWORD}@postgres:5432/${databaseName}`,
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
            ...environment,
          })
          .withWaitStrategy(Wait.forHealthCheck())
          .withStartupTimeout(STARTUP_MS)
          .start();
        started.push(service);
        return service;
      },
      /** The rows of a query in that database. */
      query: <Row extends QueryResultRow>(databaseName: string, statement: string) =>
        withClient(
          postgres,
          databaseName,
          async (client) => (await client.query<Row>(statement)).rows,
        ),
      /** The sandbox answers with these faults from now on; see test/support/sandbox/faults.ts. */
      orderFaults: async (faults: readonly Fault[]) => {
        await control({ method: 'PUT', body: JSON.stringify(faults) });
      },
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

async function withClient<T>(
  postgres: StartedTestContainer,
  databaseName: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    host: postgres.getHost(),
    port: postgres.getMappedPort(5432),
    user: 'postgres',
    password: PASSWORD,
    database: databaseName,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const POLL = { timeout: PATIENCE_MS, interval: 250 };

/** As long as the stop may take, and as container hosts commonly wait. */
const GRACE_SECONDS = 30;

describeContainer('the service in a container', () => {
  const yesterday = lastClosedDate('America/Sao_Paulo', new Date());
  const startDate = addDays(yesterday, -9);
  let stack: ServiceStack;
  let service: StartedTestContainer;

  beforeAll(async () => {
    stack = await openServiceStack();
    service = await stack.startService('erp', { START_DATE: startDate });
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
      stack.query(
        'erp',
        `SELECT date::text, state FROM conciliation.day WHERE date <= '${yesterday}' ORDER BY date`,
      );
    await expect.poll(readDays, POLL).toEqual(reconciled);
  });

  test('ends 0 in its grace when it is stopped in the middle of a pull, which costs no attempt', async () => {
    await outputOf('docker', ['stop', '-t', String(GRACE_SECONDS), service.getId()]);
    await stack.orderFaults([{ kind: 'latency', latencyMs: 600_000, times: 'forever' }]);
    // Yesterday alone is not due before six in the morning.
    const slow = await stack.startService('slow', { START_DATE: startDate });
    const readPulls = () =>
      stack.query<{ state: string; attempts: number }>(
        'slow',
        'SELECT state, attempts FROM conciliation.pull',
      );
    await expect
      .poll(async () => (await readPulls()).map(({ state }) => state), POLL)
      .toContain('running');

    await outputOf('docker', ['stop', '-t', String(GRACE_SECONDS), slow.getId()]);
    // A process that is killed after its grace ends with 137.
    const exit = await outputOf('docker', [
      'inspect',
      '--format',
      '{{.State.ExitCode}}',
      slow.getId(),
    ]);
    expect(exit).toBe('0');
    const { stderr } = await runProgram('docker', ['logs', '--tail', '1', slow.getId()]);
    expect(stderr).toContain('service stopped');
    for (const pull of await readPulls()) expect(pull).toEqual({ state: 'queued', attempts: 0 });
  });
});
