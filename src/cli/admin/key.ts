import { type Command, Option } from 'commander';
import { InputError } from '../../base/runtime/errors.ts';
import {
  KEY_DAYS,
  KEY_ROLES,
  KEY_SCOPES,
  type KeyRole,
  type KeyScope,
} from '../../base/values/role.ts';
import { createApiKey } from '../../console/access/api-keys.sql.ts';
import { integerArgument } from '../arguments.ts';
import { type Exit, stagingAction } from '../command-run.ts';

interface AddOptions {
  readonly role: KeyRole;
  readonly scopes: string;
  readonly user?: string;
  readonly days: number;
}

/** Adds the command for the API keys of scripts. */
export function addKeyCommand(program: Command, exit: Exit): void {
  const key = program.command('key').description('keys with which scripts use /api');

  key
    .command('add')
    .description('make a key and print it, once')
    .argument('<name>', 'the purpose of the key; shown in the audit log')
    .addOption(
      new Option('--role <role>', 'it can do no more than a person of that role')
        .choices(KEY_ROLES)
        .makeOptionMandatory(),
    )
    .option('--scopes <list>', `of ${KEY_SCOPES.join(', ')}, separated by commas`, 'read')
    .option('--user <name>', 'its owner, a console user: the key ends when the user is disabled')
    .option(
      '--days <n>',
      `valid for this many days, at most ${KEY_DAYS.max}`,
      integerArgument(1, KEY_DAYS.max),
      KEY_DAYS.default,
    )
    .addHelpText(
      'after',
      `
Scopes: read (see the ledger), export (download titles as files), pull (pull dates and run backfills),
payables (import the ERP's payables). A key decides nothing: people decide in the console. A script sends the key
as "Authorization: Bearer <key>". A key without an owner is valid until its last day or until an administrator
revokes it on the page "Users and keys", even after its creator has left the company.

Example: conciliation key add "ERP import" --role viewer --scopes read,export --days 180`,
    )
    .action(
      stagingAction(exit, async (database, { by }, name: string, options: AddOptions) => {
        const key = await createApiKey(database, {
          name,
          user: options.user ?? null,
          role: options.role,
          scopes: parseScopes(options.scopes),
          validDays: options.days,
          by,
        });
        return {
          document: { name, key },
          text: `The key is shown only once and is not stored:\n\n  ${key}`,
        };
      }),
    );
}

function parseScopes(text: string): KeyScope[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  return names.map((name) => {
    const scope = KEY_SCOPES.find((known) => known === name);
    if (scope === undefined) {
      throw new InputError(`--scopes: expected some of ${KEY_SCOPES.join(', ')}`);
    }
    return scope;
  });
}
