import { Command } from 'commander';
import { packageVersion } from '../app/parts.ts';
import { addAuditCommand } from './audit.ts';
import { addBackfillCommand } from './backfill.ts';
import type { ExitStatus } from './command-run.ts';
import { addDecisionCommands } from './decide.ts';
import { addDemoCommand } from './demo.ts';
import { addDriftCommand } from './drift.ts';
import { addErasePartyCommand } from './erase-party.ts';
import { addExportCommand } from './export.ts';
import { addKeyCommand } from './key.ts';
import { addMigrateCommand } from './migrate.ts';
import { addProvidersCommand } from './providers.ts';
import { addPullCommand } from './pull.ts';
import { addRetentionCommand } from './retention.ts';
import { addSandboxCommand } from './sandbox.ts';
import { addStartCommand } from './start.ts';
import { addStartDateCommand } from './start-date.ts';
import { addStatusCommand } from './status.ts';
import { addSweepCommand } from './sweep.ts';
import { addUserCommand } from './user.ts';

/**
 * The command line with all its commands. Each command is one file of this folder.
 *
 * @param exit takes the exit status of the command that has run
 */
export function buildProgram(exit: (status: ExitStatus) => void): Command {
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
docs/configuration.md has all of them. Exit status: 0 done, 1 failed, 2 usage or configuration, 3 done but something
needs a person.`,
    );
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
  return program;
}
