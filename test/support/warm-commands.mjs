// Runs command lines of the build, one after the other, each with an environment of its own. See warm-commands.ts.
import { CommanderError } from 'commander';
import { buildProgram, commandsFor } from '#dist/cli/program.js';

/** @param {string[]} args */
async function run(args) {
  let exit = 0;
  try {
    const program = await buildProgram((status) => {
      exit = status;
    }, commandsFor(args));
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    exit = error.exitCode === 0 ? 0 : 2;
  }
  return exit;
}

/** @typedef {{ args: string[], environment: NodeJS.ProcessEnv, end: string }} Order */
process.on('message', async (/** @type {Order} */ { args, environment, end }) => {
  const { PATH, HOME } = process.env;
  process.env = { PATH, HOME, ...environment };
  const exit = await run(args);
  // Both are pipes, to which Node writes at once: nothing of the command comes after this line.
  process.stdout.write(`${end}${exit}\n`);
  process.stderr.write(`${end}${exit}\n`);
});
