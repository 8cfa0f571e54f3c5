import { openStaging } from '../app/parts.ts';
import type { Database } from '../base/database/database.ts';
import { type CommandResult, type CommandRun, commandAction, type Exit } from './command-run.ts';

/** Opens the staging database for `work`, and closes it afterwards. */
export async function withStaging<T>(
  { config, logger }: CommandRun,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const staging = await openStaging(config, logger);
  try {
    return await work(staging.database);
  } finally {
    await staging.close();
  }
}

/** Returns the action of a command that needs the staging database and no platform, see `commandAction`. */
export function stagingAction<Words extends readonly unknown[]>(
  exit: Exit,
  work: (database: Database, run: CommandRun, ...words: Words) => Promise<CommandResult>,
): (...line: unknown[]) => Promise<void> {
  return commandAction(exit, { platform: false }, (run, ...words: Words) =>
    withStaging(run, (database) => work(database, run, ...words)),
  );
}
