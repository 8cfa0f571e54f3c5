import { Command, CommanderError } from '@commander-js/extra-typings';
import { packageVersion } from '../base/config/config.ts';
import { type CommandOfProgram, EXIT, type Exit } from './command.ts';

interface Group {
  /** Of a name that stands before the names of its commands only. */
  readonly does?: string;
  readonly load: () => Promise<{ readonly COMMANDS: readonly CommandOfProgram[] }>;
}

/** The file of each first word. Loading all of them takes a second, so only the file of the requested command is loaded. */
const GROUPS: Readonly<Record<string, Group>> = {
  start: { load: () => import('./pulls.ts') },
  doctor: { load: () => import('./setup.sql.ts') },
  demo: { load: () => import('./demo.sql.ts') },
  pull: { load: () => import('./pulls.ts') },
  backfill: { does: 'pulls of a range of dates', load: () => import('./pulls.ts') },
  status: { load: () => import('./ledger.sql.ts') },
  'start-date': {
    does: 'the first date of the ledger, see "status"',
    load: () => import('./ledger.sql.ts'),
  },
  bookings: {
    does: 'the booking lines that sign-offs release to the ERP',
    load: () => import('./export.ts'),
  },
  restored: { load: () => import('./setup.sql.ts') },
  verify: { load: () => import('./verify.ts') },
  providers: { does: "the ERP's suppliers: import and push", load: () => import('./erp-data.ts') },
  'erp-payables': {
    does: "the ERP's payables, with which titles are matched",
    load: () => import('./erp-data.ts'),
  },
  export: { load: () => import('./export.ts') },
  user: { does: 'console users and their roles', load: () => import('./access.ts') },
  key: { does: 'keys with which scripts use /api', load: () => import('./access.ts') },
  migrate: { load: () => import('./setup.sql.ts') },
  retention: { load: () => import('./privacy.ts') },
  'erase-party': { load: () => import('./privacy.ts') },
};

/** Returns the first words to load for a command line: that with which it begins, or all for help and errors. */
function commandsFor([first = '']: readonly string[]): readonly string[] {
  if (first in GROUPS) return [first];
  return first === '--version' ? [] : Object.keys(GROUPS);
}

/** Builds the command line of the commands with these first words; `exit` receives the exit status. */
export async function buildProgram(
  exit: Exit,
  names: readonly string[] = Object.keys(GROUPS),
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
    const group = GROUPS[name];
    if (group?.does !== undefined) program.command(name).description(group.does);
    for (const command of (await group?.load())?.COMMANDS ?? []) {
      if (command.name.split(' ')[0] === name) command.addTo(program, exit);
    }
  }
  return program;
}

/** Runs a command line; returns the exit status. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  let exit: number = EXIT.done;
  try {
    const program = await buildProgram((status) => {
      exit = status;
    }, commandsFor(args));
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) exit = EXIT.usage;
  }
  return exit;
}
