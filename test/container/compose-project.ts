import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IMAGE } from '../support/container-setup.ts';
import { outputOf, type ProgramResult, runProgram } from '../support/program.ts';

/** A login of compose/logins.sql. */
export type Login = 'migrator' | 'worker' | 'finance' | 'erp';

/** The project's docker-compose.yml with one of its profiles, in a separate folder. */
export interface ComposeProject {
  /** Makes the secrets as docs/deployment.md says. */
  makeSecrets(): Promise<void>;
  secret(name: string): string;
  /** The permission bits of the folder of the secrets. */
  modeOfSecrets(): number;
  writeToken(token: string): void;
  /** Starts everything; returns before it is healthy. */
  up(): Promise<void>;
  /** As `up`, for a start that may fail. */
  tryUp(): Promise<ProgramResult>;
  /** Stops everything in good order; the data stays. */
  stop(): Promise<void>;
  /** The containers of a service. */
  containersOf(service: string): Promise<string[]>;
  /** All containers, those that have ended as well. */
  containers(): Promise<string[]>;
  /**
   * The output of psql in one session of a login, which signs in with its password, or of the superuser,
   * who needs no password on the socket of the container.
   *
   * @param commands statements and commands of psql
   */
  psql(
    postgresService: string,
    login: Login | 'postgres',
    commands: readonly string[],
  ): Promise<string>;
  /** Removes everything, the data as well. May be called at any time. */
  down(): Promise<void>;
}

const ROOT = join(import.meta.dirname, '../..');

/** Compose as a plug-in of the docker command, else the program it was before, else null. */
export async function findCompose(): Promise<readonly string[] | null> {
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const [program = '', ...args] = command;
    const found = await runProgram(program, [...args, 'version']).catch(() => null);
    if (found?.exit === 0) return command;
  }
  return null;
}

/** @param settings what a person would write into `.env` */
export function openComposeProject(
  command: readonly string[],
  profile: string,
  settings: Readonly<Record<string, string>>,
): ComposeProject {
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
    makeSecrets: async () => void (await outputOf('compose/make-secrets', [], { folder })),
    secret,
    modeOfSecrets: () => statSync(join(folder, 'secrets')).mode & 0o777,
    writeToken: (token) => writeFileSync(join(folder, 'secrets/platform-token'), token),
    up: async () => void (await compose(...up)),
    tryUp: () => runProgram(program, [...args, ...up], { folder }),
    stop: async () => void (await compose('stop')),
    containersOf: (service) => idsOf(service),
    containers: async () =>
      (
        await outputOf('docker', [
          ...['ps', '--all', '--quiet', '--no-trunc'],
          ...['--filter', `label=com.docker.compose.project=${name}`],
        ])
      )
        .split('\n')
        .filter(Boolean),
    async psql(postgresService, login, commands) {
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
    async down() {
      await compose('down', '--volumes', '--remove-orphans', '-t', '5');
      rmSync(folder, { recursive: true });
    },
  };
}
