/** The entry of every command. Sets the exit status of the process. */
import { CommanderError } from 'commander';
import { EXIT } from './cli/command.ts';
import { buildProgram, commandsFor } from './cli/program.ts';

try {
  const names = commandsFor(process.argv.slice(2));
  const program = await buildProgram((status) => {
    process.exitCode = status;
  }, names);
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
}
