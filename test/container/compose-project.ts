import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { IMAGE } from '../support/container-setup.ts';
import { outputOf, type ProgramOptions, runProgram } from '../support/program.ts';

/** The project's docker-compose.yml with one of its profiles, under a name of its own. */
export interface ComposeProject {
  /** Starts everything; returns before it is healthy. */
  up(): Promise<void>;
  /** Stops everything in good order; the data stays. */
  stop(): Promise<void>;
  /** The containers of a service. */
  containersOf(service: string): Promise<string[]>;
  /** Removes everything, the data as well. May be called at any time. */
  down(): Promise<void>;
}

const FILE = join(import.meta.dirname, '../../docker-compose.yml');
const SETTINGS = join(import.meta.dirname, 'compose.env');

/** Compose as a plug-in of the docker command, else the program it was before, else null. */
export async function findCompose(): Promise<readonly string[] | null> {
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const [program = '', ...args] = command;
    const found = await runProgram(program, [...args, 'version']).catch(() => null);
    if (found?.exit === 0) return command;
  }
  return null;
}

/** @param environment what a person would have in `.env`; that of the working folder is not read */
export function openComposeProject(
  command: readonly string[],
  profile: string,
  environment: Readonly<Record<string, string>>,
): ComposeProject {
  const name = `conciliation-test-${randomBytes(4).toString('hex')}`;
  const [program = '', ...prefix] = command;
  const options: ProgramOptions = {
    environment: { CONCILIATION_IMAGE: IMAGE, ...environment },
  };
  const compose = (...args: readonly string[]) =>
    outputOf(
      program,
      [
        ...prefix,
        ...['--file', FILE, '--env-file', SETTINGS],
        ...['--project-name', name, '--profile', profile],
        ...args,
      ],
      options,
    );
  return {
    up: async () => void (await compose('up', '--detach', '--no-build')),
    stop: async () => void (await compose('stop')),
    containersOf: async (service) =>
      (await compose('ps', '-q', service)).split('\n').filter(Boolean),
    down: async () => void (await compose('down', '--volumes', '--remove-orphans', '-t', '5')),
  };
}
