import { type Command, Option } from 'commander';
import { createApiKey, readApiKeys, revokeApiKey } from '../../console/access/api-keys.sql.ts';
import type { Database } from '../../database/database.ts';
import { KEY_DAYS, KEY_ROLES, KEY_SCOPES, type KeyRole, type KeyScope } from '../../domain/role.ts';
import { InputError } from '../../runtime/errors.ts';
import { idArgument, integerArgument } from '../arguments.ts';
import type { CommandResult, Exit } from '../command-run.ts';
import { operatorName } from '../operator-name.ts';
import { renderTable } from '../output/table.ts';
import { stagingAction } from '../staging-run.ts';

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
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Scopes: read (see the ledger), export (download titles as files), decide (sign off, accept and release),
pull (pull dates and run backfills). A script sends the key as "Authorization: Bearer <key>". A key without
an owner is valid until its last day or until "key revoke", even after its creator has left the company.

Example: conciliation key add "ERP import" --role viewer --scopes read,export --days 180`,
    )
    .action(
      stagingAction(exit, async (database, _, name: string, options: AddOptions) => {
        const key = await createApiKey(database, {
          name,
          user: options.user ?? null,
          role: options.role,
          scopes: parseScopes(options.scopes),
          validDays: options.days,
          by: operatorName(),
        });
        return {
          document: { name, key },
          text: `The key is shown only once and is not stored:\n\n  ${key}`,
        };
      }),
    );
  key
    .command('revoke')
    .description('end a key immediately')
    .argument('<id>', 'its number, see "key list"', idArgument('key'))
    .option('--json', 'print one JSON document')
    .action(
      stagingAction(exit, async (database, _, id: bigint) => {
        await revokeApiKey(database, id, operatorName());
        return {
          document: { keyId: Number(id) },
          text: `Key ${id} is revoked.`,
        };
      }),
    );
  key
    .command('list')
    .description('show every key without its secret, which is not stored')
    .option('--json', 'print one JSON document')
    .action(stagingAction(exit, listResult));
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

async function listResult(database: Database): Promise<CommandResult> {
  const keys = await readApiKeys(database);
  const now = new Date();
  const day = (at: Date | null) => at?.toISOString().slice(0, 10) ?? '–';
  return {
    document: { keys },
    text: renderTable(
      ['id', 'name', 'begins with', 'owner', 'role', 'scopes', 'expires', 'last used', 'state'],
      keys.map((key) => [
        String(key.id),
        key.name,
        key.start,
        key.user ?? '–',
        key.role,
        key.scopes.join(','),
        day(key.expiresAt),
        day(key.lastUsedAt),
        key.revokedAt !== null ? 'revoked' : key.expiresAt < now ? 'expired' : 'active',
      ]),
    ),
  };
}
