import { type Command, Option } from 'commander';
import type { Config } from '../../config/config.ts';
import {
  addUser,
  changeUser,
  createLink,
  readUsers,
} from '../../console/access/console-users.sql.ts';
import { resetFactor } from '../../console/account/second-factor.sql.ts';
import type { Database } from '../../database/database.ts';
import { CONSOLE_ROLES, type ConsoleRole, PASSWORD_LINK_HOURS } from '../../domain/role.ts';
import { InputError } from '../../runtime/errors.ts';
import type { CommandResult, Exit } from '../command-run.ts';
import { operatorName } from '../operator-name.ts';
import { renderTable } from '../output/table.ts';
import { stagingAction } from '../staging-run.ts';

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
Roles: viewer reads, with tax identifiers and accounts masked; reviewer also signs days off and accepts
rejects; operator reads, accepts rejects, pulls, backfills and releases; admin does everything.

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
    .option('--json', 'print one JSON document')
    .action(
      stagingAction(exit, async (database, { config }, name: string, options: AddOptions) => {
        const { role, email = null } = options;
        await addUser(database, { name, role, email, by: operatorName() });
        return linkResult(config, database, name);
      }),
    );
  user
    .command('link')
    .description('a new link for a user who has no password, or forgot it')
    .argument('<name>', 'the user of the link')
    .option('--json', 'print one JSON document')
    .action(
      stagingAction(exit, (database, { config }, name: string) =>
        linkResult(config, database, name),
      ),
    );
  user
    .command('role')
    .description(
      'give a user another role; signs the user out, and revokes the keys that may do more than the role',
    )
    .argument('<name>', 'the user of the role')
    .argument('<role>', CONSOLE_ROLES.join(', '))
    .option('--json', 'print one JSON document')
    .action(
      stagingAction(exit, async (database, _, name: string, text: string) => {
        const role = CONSOLE_ROLES.find((known) => known === text);
        if (role === undefined) {
          throw new InputError(`role: expected one of ${CONSOLE_ROLES.join(', ')}`);
        }
        await changeUser(database, { name, role, by: operatorName() });
        return { document: { name, role }, text: `${name} is ${role} now.` };
      }),
    );
  user
    .command('email')
    .description(
      'the e-mail address of the account with which a user signs in at the company; signs the user out and releases the tied account',
    )
    .argument('<name>', 'the user of the address')
    .argument('[address]', 'none: the user signs in with a password only')
    .option('--json', 'print one JSON document')
    .action(
      stagingAction(exit, async (database, _, name: string, address: string | undefined) => {
        const email = address ?? null;
        await changeUser(database, { name, email, by: operatorName() });
        return {
          document: { name, email },
          text: `${name} has ${email ?? 'no e-mail address'} now.`,
        };
      }),
    );
  for (const [verb, isDisabled, description] of [
    ['disable', true, 'disable a user: end the sessions and revoke the API keys'],
    ['enable', false, 'let a disabled user in again'],
  ] as const) {
    user
      .command(verb)
      .description(description)
      .argument('<name>', 'which user')
      .option('--json', 'print one JSON document')
      .action(
        stagingAction(exit, async (database, _, name: string) => {
          await changeUser(database, { name, isDisabled, by: operatorName() });
          return { document: { name, isDisabled }, text: `${name} is ${verb}d.` };
        }),
      );
  }
  user
    .command('reset-second-factor')
    .description(
      'remove the lost second factor of a user; signs the user out, and the password alone signs in from then on',
    )
    .argument('<name>', 'the user of the second factor')
    .option('--json', 'print one JSON document')
    .action(
      stagingAction(exit, async (database, _, name: string) => {
        await resetFactor(database, { name, by: operatorName() });
        return {
          document: { name, hasSecondFactor: false },
          text: `${name} has no second factor now.`,
        };
      }),
    );
  user
    .command('list')
    .description('show every user')
    .option('--json', 'print one JSON document')
    .action(stagingAction(exit, listResult));
}

async function linkResult(
  config: Config,
  database: Database,
  name: string,
): Promise<CommandResult> {
  const token = await createLink(database, {
    name,
    purpose: 'password',
    validMinutes: PASSWORD_LINK_HOURS * 60,
    by: operatorName(),
  });
  const base =
    config.consolePublicUrl?.origin ?? `http://${config.consoleHost}:${config.consolePort}`;
  const link = `${base}/link/${token}`;
  return {
    document: { name, link },
    text: `Send this to ${name} over a way that others cannot read. It works once, for ${PASSWORD_LINK_HOURS} hours:\n\n  ${link}`,
  };
}

async function listResult(database: Database): Promise<CommandResult> {
  const users = await readUsers(database);
  const day = (at: Date | null) => at?.toISOString().slice(0, 10) ?? '–';
  return {
    document: { users },
    text:
      users.length === 0
        ? 'There are no users yet: conciliation user add <name> --role <role>'
        : renderTable(
            ['name', 'role', 'e-mail', 'last sign-in', 'second factor', 'state'],
            users.map((user) => [
              user.name,
              user.role,
              user.email ?? '–',
              day(user.lastLoginAt),
              user.hasSecondFactor ? 'set' : '–',
              user.disabledAt !== null
                ? 'disabled'
                : user.hasPassword || user.isBound
                  ? 'active'
                  : 'no password yet',
            ]),
          ),
  };
}
