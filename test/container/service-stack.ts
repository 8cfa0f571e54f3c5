import { join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import {
  GenericContainer,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { IMAGE } from '../support/container-setup.ts';
import { outputOf } from '../support/program.ts';
import type { Fault } from '../support/sandbox/faults.ts';

/** The image as a hardened host runs it: it may write to /tmp and nowhere else. */
class HardenedContainer extends GenericContainer {
  constructor(image: string) {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
    this.hostConfig.SecurityOpt = ['no-new-privileges:true'];
    this.withDroppedCapabilities('ALL').withTmpFs({ '/tmp': 'rw' });
  }
}

/** PostgreSQL, Redis and a sandbox in containers, and the service beside them. */
export interface ServiceStack {
  /** The console of the service that runs. */
  readonly consoleUrl: string;
  /** Starts a service as the worker's login on a new database of that name. One at a time: they share the console's port. */
  startService(
    databaseName: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<StartedTestContainer>;
  /** The rows of a query in that database. */
  query<Row extends QueryResultRow>(databaseName: string, statement: string): Promise<Row[]>;
  /** The sandbox answers with these faults from now on; see test/support/sandbox/faults.ts. */
  orderFaults(faults: readonly Fault[]): Promise<void>;
  close(): Promise<void>;
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

export async function openServiceStack(): Promise<ServiceStack> {
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
      consoleUrl: `http://${sandbox.getHost()}:${sandbox.getMappedPort(8080)}`,
      async startService(databaseName, environment) {
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
      query: <Row extends QueryResultRow>(databaseName: string, statement: string) =>
        withClient(
          postgres,
          databaseName,
          async (client) => (await client.query<Row>(statement)).rows,
        ),
      orderFaults: async (faults) => {
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
