import { once } from 'node:events';
import { type Command, InvalidArgumentError } from 'commander';
import { ROLES, type Role, startService } from '../app/service.ts';
import { type CommandResult, type CommandRun, commandAction, type Exit } from './command-run.ts';

export function addStartCommand(program: Command, exit: Exit): void {
  program
    .command('start')
    .description('run the service until SIGTERM: schedule, pull, push, serve')
    .option('--roles <list>', 'the roles of this process, separated by commas', rolesArgument, [
      ...ROLES,
    ])
    .addHelpText(
      'after',
      `
Roles: scheduler decides each minute what is due; worker pulls titles and pushes providers; console
serves the pages, /healthz, /readyz and /metrics on CONSOLE_HOST:CONSOLE_PORT. One process has all three
by default. Several processes share one DATABASE_URL (and REDIS_URL); any number of processes of each role
may run.

On SIGTERM, running merges and pushes get 30 s to finish. Other work returns to the queue. The database is
stopped last.`,
    )
    .action(commandAction(exit, { platform: true, service: true }, start));
}

async function start(
  { config, logger, signal }: CommandRun,
  { roles }: { readonly roles: readonly Role[] },
): Promise<CommandResult> {
  const service = await startService({ config, logger, roles: new Set(roles) });
  if (!signal.aborted) await once(signal, 'abort');
  await service.stop();
  return { document: {}, text: '' };
}

function rolesArgument(text: string): Role[] {
  const names = text.split(',').map((name) => name.trim());
  const roles = ROLES.filter((role) => names.includes(role));
  if (names.some((name) => !ROLES.some((role) => role === name))) {
    throw new InvalidArgumentError(`Expected some of ${ROLES.join(', ')}.`);
  }
  return roles;
}
