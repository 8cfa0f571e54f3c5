import { openStaging } from '../app/parts.ts';
import type { Database } from '../database/database.ts';
import { type CommandResult, type CommandRun, type ExitStatus, runCommand } from './command-run.ts';

/**
 * Runs a command that needs the staging database and no platform. Opens the database before `work` and closes
 * it afterwards.
 *
 * @returns the exit status of the command
 */
export function runOnStaging(
  json: boolean | undefined,
  work: (database: Database, run: CommandRun) => Promise<CommandResult>,
): Promise<ExitStatus> {
  return runCommand({ json, platform: false }, async (run) => {
    const staging = await openStaging(run.config, run.logger);
    try {
      return await work(staging.database, run);
    } finally {
      await staging.close();
    }
  });
}
