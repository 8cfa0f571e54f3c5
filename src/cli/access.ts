import { Option } from '@commander-js/extra-typings';
import { InputError } from '../base/runtime/errors.ts';
import {
  CONSOLE_ROLES,
  KEY_DAYS,
  KEY_ROLES,
  KEY_SCOPES,
  PASSWORD_LINK_HOURS,
} from '../base/values/role.ts';
import { createApiKey } from '../console/access/api-keys.sql.ts';
import { addUser, createLink } from '../console/access/console-users.sql.ts';
import { integerFrom, someOf, stagingCommand } from './command.ts';

/** No password passes through a command line: users choose their passwords in the console. */
const userAdd = stagingCommand({
  name: 'user add',
  does: `add a user, or find one, and print a link that works once, for ${PASSWORD_LINK_HOURS} hours`,
  words: (line) =>
    line
      .argument('<name>', 'the name to sign in with')
      .addOption(
        new Option(
          '--role <role>',
          'of a new user; without it, the link is for a user that exists',
        ).choices(CONSOLE_ROLES),
      )
      .option('--email <address>', 'of the account with which the user signs in at the company'),
  help: `Roles: viewer reads, with tax identifiers and accounts masked; reviewer also decides and signs days off;
operator decides, pulls and backfills; admin manages users and keys, pulls and backfills, and decides nothing.

A user who has no password yet, or forgot it, gets another link by the name alone.

Example: conciliation user add ana --role reviewer`,
  async run(database, { role, email = null }, { config, by }, [name]) {
    if (role !== undefined) await addUser(database, { name, role, email, by });
    else if (email !== null) throw new InputError('--email: requires --role');
    const token = await createLink(database, { name, by });
    const { consolePublicUrl, consoleHost, consolePort } = config;
    const link = `${consolePublicUrl?.origin ?? `http://${consoleHost}:${consolePort}`}/link/${token}`;
    const doubt = `\n\nCONSOLE_PUBLIC_URL is not set: replace the address by that of the console, if it is another.`;
    return {
      document: { name, link },
      text: `Send this to ${name} over a way that others cannot read. It works once, for ${PASSWORD_LINK_HOURS} hours:\n\n  ${link}${consolePublicUrl === null ? doubt : ''}`,
    };
  },
});

const keyAdd = stagingCommand({
  name: 'key add',
  does: 'make a key and print it, once',
  words: (line) =>
    line
      .argument('<name>', 'the purpose of the key; shown in the audit log')
      .addOption(
        new Option('--role <role>', 'it can do no more than a person of that role')
          .choices(KEY_ROLES)
          .makeOptionMandatory(),
      )
      .addOption(
        new Option('--scopes <list>', `of ${KEY_SCOPES.join(', ')}, separated by commas`)
          .argParser(someOf(KEY_SCOPES))
          .default(['read' as const], 'read'),
      )
      .option('--user <name>', 'its owner, a console user: the key ends when the user is disabled')
      .option(
        '--days <n>',
        `valid for this many days, at most ${KEY_DAYS.max}`,
        integerFrom(1, KEY_DAYS.max),
        KEY_DAYS.default,
      ),
  help: `Scopes: read (see the ledger), export (download titles as files), pull (pull dates and run backfills),
payables (import the ERP's payables). A key decides nothing: people decide in the console. A script sends the key
as "Authorization: Bearer <key>". A key without an owner is valid until its last day or until an administrator
revokes it on the page "Users and keys", even after its creator has left the company.

Example: conciliation key add "ERP import" --role viewer --scopes read,export --days 180`,
  async run(database, { user = null, role, scopes, days: validDays }, { by }, [name]) {
    const { id, key } = await createApiKey(database, { name, user, role, scopes, validDays, by });
    return {
      document: { id, name, key },
      text: `The key ${id} is shown only once and is not stored:\n\n  ${key}`,
    };
  },
});

export const COMMANDS = [userAdd, keyAdd];
