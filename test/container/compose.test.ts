import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { addDays, lastClosedDate } from '../../src/base/values/business-day.ts';
import { IMAGE } from '../support/container-setup.ts';
import {
  FOR_SUPERUSERS,
  FORBIDDEN,
  INSUFFICIENT_PRIVILEGE,
} from '../support/forbidden-statements.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { outputOf, runProgram } from '../support/program.ts';
import { READ_RIGHTS, rightsTable } from '../support/rights.ts';
import { askConsole } from './ask-console.ts';
import { describeContainer } from './describe-container.ts';

/** A login of compose/logins.sql. */
type Login = 'migrator' | 'worker' | 'finance' | 'erp';

/** The project's docker-compose.yml with one of its profiles, in a separate folder. */
type ComposeProject = ReturnType<typeof openComposeProject>;

const ROOT = join(import.meta.dirname, '../..');

/** Compose as a plug-in of the docker command, else the program it was before, else null. */
async function findCompose(): Promise<readonly string[] | null> {
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const [program = '', ...args] = command;
    const found = await runProgram(program, [...args, 'version']).catch(() => null);
    if (found?.exit === 0) return command;
  }
  return null;
}

/** @param settings what a person would write into `.env` */
function openComposeProject(
  command: readonly string[],
  profile: string,
  settings: Readonly<Record<string, string>>,
) {
  const name = `conciliation-test-${randomBytes(4).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'conciliation-compose-'));
  for (const part of ['docker-compose.yml', 'compose', 'prisma/advisory-locks.sql']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  // Port 0 takes any free port.
  const lines = Object.entries({ CONCILIATION_IMAGE: IMAGE, CONSOLE_PORT: '0', ...settings });
  writeFileSync(join(folder, '.env'), lines.map(([key, value]) => `${key}=${value}\n`).join(''));

  const [program = '', ...prefix] = command;
  const args = [...prefix, '--project-name', name, '--profile', profile];
  const compose = (...rest: readonly string[]) => outputOf(program, [...args, ...rest], { folder });
  const up = ['up', '--detach', '--no-build'];
  const idsOf = async (...rest: readonly string[]) =>
    (await compose('ps', '-q', ...rest)).split('\n').filter(Boolean);
  const secret = (file: string) => readFileSync(join(folder, 'secrets', file), 'utf8');
  return {
    /** Makes the secrets as docs/deployment.md says. */
    makeSecrets: async () => void (await outputOf('compose/make-secrets', [], { folder })),
    secret,
    /** The permission bits of the folder of the secrets. */
    modeOfSecrets: () => statSync(join(folder, 'secrets')).mode & 0o777,
    writeToken: (token: string) => writeFileSync(join(folder, 'secrets/platform-token'), token),
    /** Starts everything; returns before it is healthy. */
    up: async () => void (await compose(...up)),
    /** As `up`, for a start that may fail. */
    tryUp: () => runProgram(program, [...args, ...up], { folder }),
    /** Stops everything in good order; the data stays. */
    stop: async () => void (await compose('stop')),
    /** The containers of a service. */
    containersOf: (service: string) => idsOf(service),
    /** All containers, those that have ended as well. */
    containers: async () =>
      (
        await outputOf('docker', [
          ...['ps', '--all', '--quiet', '--no-trunc'],
          ...['--filter', `label=com.docker.compose.project=${name}`],
        ])
      )
        .split('\n')
        .filter(Boolean),
    /**
     * The output of psql in one session of a login, which signs in with its password, or of the superuser,
     * who needs no password on the socket of the container.
     *
     * @param commands statements and commands of psql
     */
    async psql(postgresService: string, login: Login | 'postgres', commands: readonly string[]) {
      const [container = ''] = await idsOf(postgresService);
      const [host, password] =
        login === 'postgres'
          ? ['/run/postgresql', '']
          : [postgresService, secret(`${login}-password`)];
      return outputOf('docker', [
        ...['exec', '--env', `PGPASSWORD=${password}`, container],
        ...['psql', '-h', host, '-U', login, '-d', 'conciliation', '--quiet', '--csv', '-t'],
        ...commands.flatMap((statement) => ['-c', statement]),
      ]);
    },
    /** Removes everything, the data as well. May be called at any time. */
    async down() {
      await compose('down', '--volumes', '--remove-orphans', '-t', '5');
      rmSync(folder, { recursive: true });
    },
  };
}

const POLL = { timeout: PATIENCE_MS, interval: 500 };

/** Yesterday is not due before six in the morning, the day before is at any time. */
const DUE_DATE = addDays(lastClosedDate('America/Sao_Paulo', new Date()), -1);

const compose = await findCompose();

describeContainer('docker compose', () => {
  let project: ComposeProject | undefined;
  afterEach(async () => {
    await project?.down();
    project = undefined;
  });

  function open(profile: string, environment: Readonly<Record<string, string>>): ComposeProject {
    if (compose === null) throw new Error('there is neither docker compose nor docker-compose');
    project = openComposeProject(compose, profile, environment);
    return project;
  }

  test('without the secrets starts neither PostgreSQL nor Redis nor a process of the service', async () => {
    const running = open('service', { PLATFORM_BASE_URL: 'https://platform.invalid' });
    const { exit, stdout, stderr } = await running.tryUp();
    expect(exit).not.toBe(0);
    expect(stdout + stderr).toMatch(/secrets\/(postgres|redis)-password/);
    for (const service of ['postgres', 'redis', 'conciliation']) {
      expect(await running.containersOf(service)).toEqual([]);
    }
  });

  test('makes secrets that only the owner of their folder reaches, and keeps those that are there', async () => {
    const project = open('service', {});
    await project.makeSecrets();
    const names = ['postgres', 'migrator', 'worker', 'finance', 'erp', 'redis'];
    const passwords = names.map((name) => project.secret(`${name}-password`));
    for (const password of passwords) expect(password).toMatch(/^[0-9a-f]{48}$/);
    expect(new Set(passwords).size).toBe(names.length);
    expect(project.modeOfSecrets()).toBe(0o700);
    expect(project.secret('worker-url')).toBe(
      `postgresql://worker:${project.secret('worker-password')}@postgres:5432/conciliation\n`,
    );
    await project.makeSecrets();
    expect(names.map((name) => project.secret(`${name}-password`))).toEqual(passwords);
  });

  test.each([
    { profile: 'service', worker: 'conciliation', workers: 1, withConsole: 'conciliation' },
    { profile: 'scaled', worker: 'worker', workers: 2, withConsole: 'scheduler' },
  ])('with the profile $profile pulls from the platform that is configured', async (expected) => {
    const running = open(expected.profile, {
      // The platform is unreachable, and the service has to be ready nevertheless.
      PLATFORM_BASE_URL: 'https://platform.invalid',
      START_DATE: DUE_DATE,
    });
    await running.makeSecrets();
    running.writeToken('a-token');
    await running.up();
    const workers = await running.containersOf(expected.worker);
    expect(workers).toHaveLength(expected.workers);
    for (const container of workers) {
      await expect.poll(() => healthOf(container), POLL).toBe('healthy');
    }
    const consoleUrl = await consoleUrlOf(running, expected.withConsole);
    await expect
      .poll(async () => (await askConsole(consoleUrl, '/readyz'))?.status, POLL)
      .toBe(200);
    await expect
      .poll(async () => (await Promise.all(workers.map(logOf))).join('\n'), POLL)
      .toContain('PLATFORM_UNAVAILABLE');
    await expectNoSuperuser(running);
    await expectRights(running);
    await expectRefusals(running);
    await expectPasswordOfRedis(running);
    await expectNoSecretShown(running);
    await expectConfined(running);
  });

  test('keeps its data when it is stopped and started', async () => {
    const running = open('service', {
      PLATFORM_BASE_URL: 'https://platform.invalid',
      START_DATE: DUE_DATE,
    });
    await running.makeSecrets();
    running.writeToken('a-token');
    await running.up();
    const health = async () => healthOf((await running.containersOf('conciliation'))[0] ?? '');
    await expect.poll(health, POLL).toBe('healthy');
    await expect.poll(() => readFirstPull(running), POLL).toMatch(/^\d+,/);
    const before = await readFirstPull(running);
    const [service = ''] = await running.containersOf('conciliation');
    await running.stop();
    // A process that is killed after its grace ends with 137.
    const format = '{{.State.ExitCode}}';
    expect(await outputOf('docker', ['inspect', '--format', format, service])).toBe('0');
    await running.up();
    await expect.poll(health, POLL).toBe('healthy');
    expect(await readFirstPull(running)).toBe(before);
  });
});

/** By the sessions of the service, and by the addresses of all containers, those that have ended as well. */
async function expectNoSuperuser(project: ComposeProject): Promise<void> {
  const sessions = await project.psql('postgres', 'postgres', [
    `SELECT DISTINCT rolname, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication
     FROM pg_stat_activity JOIN pg_roles ON rolname = usename
     WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  ]);
  expect(sessions).toBe('worker,f,f,f,f,f');
  const configured = (await inspectAll(project)).matchAll(
    /DATABASE_URL_FILE=\/run\/secrets\/([a-z]+)-url/g,
  );
  const users = [...new Set(Array.from(configured, ([, user = '']) => user))].sort();
  expect(users).toEqual(['migrator', 'worker']);
  const logins = await project.psql('postgres', 'postgres', [
    `SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication
     FROM pg_roles WHERE rolcanlogin AND rolname <> 'postgres' ORDER BY 1`,
  ]);
  expect(logins.split('\n')).toEqual(
    ['erp', 'finance', 'migrator', 'worker'].map((login) => `${login},f,f,f,f,f`),
  );
}

/** Each login has the rights of one role, and each role those of the table in SECURITY.md. */
async function expectRights(project: ComposeProject): Promise<void> {
  const ask = (statement: string) =>
    project.psql('postgres', 'postgres', ['\\pset format unaligned', statement]);
  const rights = await ask(`SELECT jsonb_agg(item) FROM (${READ_RIGHTS}) AS item`);
  expect(await readFile('SECURITY.md', 'utf8')).toContain(rightsTable(JSON.parse(rights)));
  const members = await ask(
    `SELECT format('%s %s', member::regrole, roleid::regrole) FROM pg_auth_members
     WHERE roleid::regrole::text NOT LIKE 'pg\\_%' ORDER BY 1`,
  );
  const logins = ['erp', 'finance', 'worker'];
  expect(members.split('\n')).toEqual(logins.map((login) => `${login} conciliation_${login}`));
}

/** Each login signs in with its password, and PostgreSQL refuses it every forbidden statement. */
async function expectRefusals(project: ComposeProject): Promise<void> {
  const forbidden: Readonly<Record<Login, readonly string[]>> = {
    migrator: FOR_SUPERUSERS,
    worker: [...FORBIDDEN.worker, ...FOR_SUPERUSERS],
    finance: [...FORBIDDEN.finance, ...FOR_SUPERUSERS],
    erp: [...FORBIDDEN.erp, ...FOR_SUPERUSERS],
  };
  for (const [login, statements] of Object.entries(forbidden)) {
    const codes = await project.psql('postgres', login as Login, [
      'SELECT current_user',
      '\\o /dev/null',
      ...statements.flatMap((statement) => ['BEGIN', statement, '\\echo :SQLSTATE', 'ROLLBACK']),
    ]);
    const [user, ...rest] = codes.split('\n');
    expect(user).toBe(login);
    expect(rest.map((code, index) => `${code} ${statements[index]}`)).toEqual(
      statements.map((statement) => `${INSUFFICIENT_PRIVILEGE} ${statement}`),
    );
  }
  const attempt = project.psql('postgres', 'worker', ['SELECT 1']);
  expect(await attempt).toBe('1');
}

async function expectPasswordOfRedis(project: ComposeProject): Promise<void> {
  const [container = ''] = await project.containersOf('redis');
  const ask = async (password: string, ...command: readonly string[]) => {
    const variables = password === '' ? [] : ['--env', `REDISCLI_AUTH=${password}`];
    const { stdout } = await runProgram('docker', [
      ...['exec', ...variables, container, 'redis-cli', '--no-auth-warning', ...command],
    ]);
    return stdout;
  };
  for (const command of [['PING'], ['KEYS', '*'], ['FLUSHALL'], ['CONFIG', 'GET', 'requirepass']]) {
    expect(await ask('', ...command)).toContain('NOAUTH');
    expect(await ask('guessed', ...command)).toContain('NOAUTH');
  }
  expect(await ask(project.secret('redis-password'), 'PING')).toBe('PONG\n');
}

/** No secret is among the arguments, variables and settings of a container, nor in its log. */
async function expectNoSecretShown(project: ComposeProject): Promise<void> {
  const logs = await Promise.all((await project.containers()).map(logOf));
  const shown = [await inspectAll(project), ...logs].join('\n');
  for (const name of ['postgres', 'migrator', 'worker', 'finance', 'erp', 'redis']) {
    expect(shown.includes(project.secret(`${name}-password`)), `the password ${name}`).toBe(false);
  }
}

/** No process is root, has a capability, or can write to the root file system. */
async function expectConfined(project: ComposeProject): Promise<void> {
  const running = (await project.containers()).map(async (container) => {
    const format = '{{.State.Running}} {{.HostConfig.ReadonlyRootfs}}';
    const [isRunning, isReadOnly] = (
      await outputOf('docker', ['inspect', '--format', format, container])
    ).split(' ');
    expect(isReadOnly).toBe('true');
    if (isRunning !== 'true') return;
    const status = await outputOf('docker', ['exec', container, 'cat', '/proc/1/status']);
    expect(status).not.toMatch(/^Uid:.*\t0\b/m);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  });
  expect(running.length).toBeGreaterThanOrEqual(4);
  await Promise.all(running);
}

async function inspectAll(project: ComposeProject): Promise<string> {
  return outputOf('docker', ['inspect', ...(await project.containers())]);
}

async function consoleUrlOf(project: ComposeProject, service: string): Promise<string> {
  const [container = ''] = await project.containersOf(service);
  const [address = ''] = (await outputOf('docker', ['port', container, '8080/tcp'])).split('\n');
  return `http://${address}`;
}

function healthOf(container: string): Promise<string> {
  return outputOf('docker', ['inspect', '--format', '{{.State.Health.Status}}', container]);
}

function logOf(container: string): Promise<string> {
  return outputOf('sh', ['-c', `docker logs ${container} 2>&1`]);
}

/** The first pull of the ledger and when it was made; empty: there is none. */
function readFirstPull(project: ComposeProject): Promise<string> {
  return project.psql('postgres', 'finance', [
    'SELECT id, created_at FROM conciliation.pull ORDER BY id LIMIT 1',
  ]);
}
