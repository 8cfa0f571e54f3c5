// Runs command lines of the build, one after the other, each with an environment of its own. See warm-commands.ts.
import { runCommandLine } from '#dist/cli/program.js';

/** @typedef {{ args: string[], environment: NodeJS.ProcessEnv, end: string }} Order */
process.on('message', async (/** @type {Order} */ { args, environment, end }) => {
  const { PATH, HOME } = process.env;
  process.env = { PATH, HOME, ...environment };
  const exit = await runCommandLine(args);
  // Both are pipes, to which Node writes at once: nothing of the command comes after this line.
  process.stdout.write(`${end}${exit}\n`);
  process.stderr.write(`${end}${exit}\n`);
});
