/** The command line: each command is one file of cli/, and sets the process's exit status. */
import { Command, CommanderError } from 'commander';
import { packageVersion } from './app/parts.ts';
import { addAuditCommand } from './cli/audit.ts';
import { addBackfillCommand } from './cli/backfill.ts';
import { EXIT, type ExitStatus } from './cli/command-run.ts';
import { addDecisionCommands } from './cli/decide.ts';
import { addDemoCommand } from './cli/demo.ts';
import { addDriftCommand } from './cli/drift.ts';
import { addErasePartyCommand } from './cli/erase-party.ts';
import { addExportCommand } from './cli/export.ts';
import { addKeyCommand } from './cli/key.ts';
import { addMigrateCommand } from './cli/migrate.ts';
import { addProvidersCommand } from './cli/providers.ts';
import { addPullCommand } from './cli/pull.ts';
import { addRetentionCommand } from './cli/retention.ts';
import { addSandboxCommand } from './cli/sandbox.ts';
import { addStartCommand } from './cli/start.ts';
import { addStartDateCommand } from './cli/start-date.ts';
import { addStatusCommand } from './cli/status.ts';
import { addSweepCommand } from './cli/sweep.ts';
import { addUserCommand } from './cli/user.ts';

const program = new Command('conciliation')
  .description('Pulls accepted anticipations from the platform into an ERP staging database.')
  .version(packageVersion())
  .configureHelp({ sortSubcommands: false, showGlobalOptions: true })
  .showHelpAfterError('(add --help for what the command takes)')
  .exitOverride()
  .addHelpText(
    'after',
    `
Configuration comes from the environment: PLATFORM_BASE_URL, PLATFORM_TOKEN_FILE, DATABASE_URL and more;
the README has the table. Exit status: 0 done, 1 failed, 2 usage or configuration, 3 done but something
needs a person.`,
  );

const exit = (status: ExitStatus) => {
  process.exitCode = status;
};
addStartCommand(program, exit);
addDemoCommand(program, exit);
addPullCommand(program, exit);
addSweepCommand(program, exit);
addBackfillCommand(program, exit);
addStatusCommand(program, exit);
addStartDateCommand(program, exit);
addDecisionCommands(program, exit);
addDriftCommand(program, exit);
addProvidersCommand(program, exit);
addExportCommand(program, exit);
addUserCommand(program, exit);
addKeyCommand(program, exit);
addAuditCommand(program, exit);
addMigrateCommand(program, exit);
addRetentionCommand(program, exit);
addErasePartyCommand(program, exit);
addSandboxCommand(program, exit);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
}
