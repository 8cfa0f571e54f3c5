import { type Command, Option } from 'commander';
import type { Database } from '../../base/database/database.ts';
import { CONSOLE_ROLES, type ConsoleRole, PASSWORD_LINK_HOURS } from '../../base/values/role.ts';
import { addUser, createLink } from '../../console/access/console-users.sql.ts';
import { type CommandResult, type CommandRun, type Exit, stagingAction } from '../command-run.ts';

interface AddOptions {
  readonly role: ConsoleRole;
  readonly email?: string;
}

/**
 * Adds the command for the users of the console. No password passes through a command line: users
 * choose their passwords in the console.
 */
export function addUserCommand(program: Command, exit: Exit): void {
  const user = program
    .command('user')
    .description('console users and their roles')
    .addHelpText(
      'after',
      `
Roles: viewer reads, with tax identifiers and accounts masked; reviewer also decides and signs days off;
operator decides, pulls and backfills; admin manages users and keys, pulls and backfills, and decides nothing.

Example: conciliation user add ana --role reviewer`,
    );
  user
    .command('add')
    .description(`add a user, and print a link that works once, for ${PASSWORD_LINK_HOURS} hours`)
    .argument('<name>', 'the name to sign in with')
    .addOption(
      new Option('--role <role>', 'what the user may do')
        .choices(CONSOLE_ROLES)
        .makeOptionMandatory(),
    )
    .option('--email <address>', 'of the account with which the user signs in at the company')
    .action(
      stagingAction(exit, async (database, run, name: string, options: AddOptions) => {
        const { role, email = null } = options;
        await addUser(database, { name, role, email, by: run.by });
        return linkResult(run, database, name);
      }),
    );
  user
    .command('link')
    .description('a new link for a user who has no password, or forgot it')
    .argument('<name>', 'the user of the link')
    .action(stagingAction(exit, (database, run, name: string) => linkResult(run, database, name)));
}

async function linkResult(
  { config, by }: CommandRun,
  database: Database,
  name: string,
): Promise<CommandResult> {
  const token = await createLink(database, {
    name,
    purpose: 'password',
    validMinutes: PASSWORD_LINK_HOURS * 60,
    by,
  });
  const base =
    config.consolePublicUrl?.origin ?? `http://${config.consoleHost}:${config.consolePort}`;
  const link = `${base}/link/${token}`;
  return {
    document: { name, link },
    text: `Send this to ${name} over a way that others cannot read. It works once, for ${PASSWORD_LINK_HOURS} hours:\n\n  ${link}`,
  };
}
