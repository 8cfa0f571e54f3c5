/** The entry of every command. Sets the exit status of the process. */
import { CommanderError } from 'commander';
import { EXIT } from './cli/command-run.ts';
import { buildProgram } from './cli/program.ts';

const program = buildProgram((status) => {
  process.exitCode = status;
});

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
}
