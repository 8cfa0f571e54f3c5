import { Command } from 'commander';
import { packageVersion } from '../base/runtime/package-version.ts';
import type { Exit } from './command-run.ts';

type AddCommand = (program: Command, exit: Exit) => void;

/** The file of each command. Loading all of them takes a second, so only the requested command is loaded. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  start: async () => (await import('./start.ts')).addStartCommand,
  demo: async () => (await import('./demo.ts')).addDemoCommand,
  pull: async () => (await import('./pull.ts')).addPullCommand,
  backfill: async () => (await import('./backfill.ts')).addBackfillCommand,
  status: async () => (await import('./status.ts')).addStatusCommand,
  'start-date': async () => (await import('./start-date.ts')).addStartDateCommand,
  bookings: async () => (await import('./bookings/bookings.ts')).addBookingsCommand,
  restored: async () => (await import('./restored.ts')).addRestoredCommand,
  verify: async () => (await import('./verify.ts')).addVerifyCommand,
  providers: async () => (await import('./providers.ts')).addProvidersCommand,
  'erp-payables': async () => (await import('./payables/erp-payables.ts')).addErpPayablesCommand,
  export: async () => (await import('./export.ts')).addExportCommand,
  user: async () => (await import('./admin/user.ts')).addUserCommand,
  key: async () => (await import('./admin/key.ts')).addKeyCommand,
  audit: async () => (await import('./admin/audit.ts')).addAuditCommand,
  migrate: async () => (await import('./admin/migrate.ts')).addMigrateCommand,
  retention: async () => (await import('./admin/retention.ts')).addRetentionCommand,
  'erase-party': async () => (await import('./admin/erase-party.ts')).addErasePartyCommand,
};

/**
 * Returns the commands to load for a command line: the command that it begins with, or all commands
 * for help and errors.
 */
export function commandsFor([first = '']: readonly string[]): readonly string[] {
  if (first in COMMANDS) return [first];
  return first === '--version' ? [] : Object.keys(COMMANDS);
}

/**
 * Builds the command line. Each command is one file of this folder.
 * @param exit receives the exit status of the command
 * @param names the commands of the program
 */
export async function buildProgram(
  exit: Exit,
  names: readonly string[] = Object.keys(COMMANDS),
): Promise<Command> {
  const program = new Command('conciliation')
    .description('Pulls accepted anticipations from the platform into an ERP staging database.')
    .version(packageVersion())
    .option('--json', 'print one JSON document')
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true })
    .showHelpAfterError('(add --help for the options of a command)')
    .exitOverride()
    .addHelpText(
      'after',
      `
Configuration comes from the environment: PLATFORM_BASE_URL, PLATFORM_TOKEN_FILE, DATABASE_URL and more;
docs/configuration.md has all of them. Exit status: 0 done, 1 failed, 2 usage or configuration, 3 done but something
needs a person.`,
    );
  for (const name of names) {
    const addCommand = await COMMANDS[name]?.();
    addCommand?.(program, exit);
  }
  return program;
}
