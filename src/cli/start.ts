import { once } from 'node:events';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { ROLES, type Role, startService } from '../main.ts';
import { EXIT, type ExitStatus, runCommand } from './command-run.ts';

export function addStartCommand(program: Command, exit: (status: ExitStatus) => void): void {
  program
    .command('start')
    .description('run the service: schedule, pull, serve, until SIGTERM')
    .option('--roles <list>', 'what this process does, parted by commas', rolesArgument, [...ROLES])
    .addHelpText(
      'after',
      `
Roles: scheduler decides each minute what is due; worker pulls; console serves /healthz, /readyz and
/metrics on CONSOLE_HOST:CONSOLE_PORT. One process has all three unless told; several processes share
one DATABASE_URL (and REDIS_URL), and any number of each role is safe.

SIGTERM lets merges that have begun finish (30 s), hands the other pulls back and stops the database last.`,
    )
    .action(async (options: { roles: Role[] }) => {
      exit(
        await runCommand({ platform: true, service: true }, async ({ config, logger, signal }) => {
          const service = await startService({ config, logger, roles: new Set(options.roles) });
          if (!signal.aborted) await Promise.race([once(signal, 'abort'), service.failed]);
          await service.stop();
          return { document: {}, text: '', exit: EXIT.done };
        }),
      );
    });
}

function rolesArgument(text: string): Role[] {
  const roles = text.split(',').map((role) => role.trim());
  const known = roles.filter((role): role is Role => ROLES.some((candidate) => candidate === role));
  if (known.length === 0 || known.length !== roles.length) {
    throw new InvalidArgumentError(`Expected some of ${ROLES.join(', ')}.`);
  }
  return known;
}
