import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { startSandbox } from '../sandbox/sandbox.ts';
import { integerArgument } from './arguments.ts';
import { EXIT, type Exit, runCommand } from './command-run.ts';

/** A rehearsal may run for weeks. */
const TOKEN_LIFETIME_SECONDS = 90 * 86_400;

export function addSandboxCommand(program: Command, exit: Exit): void {
  program
    .command('sandbox')
    .description('run a complete local platform to rehearse against')
    .option(
      '--port <number>',
      'port on 127.0.0.1; 0 takes any free port',
      integerArgument(0, 65_535),
      0,
    )
    .option('--seed <text>', 'another seed makes other titles', '1')
    .option(
      '--titles-per-day <number>',
      'titles on a working day',
      integerArgument(0, 5_000_000),
      60,
    )
    .option('--token-file <file>', 'also write a token there, readable by its owner only')
    .addHelpText(
      'after',
      `
Both operations of the platform with made-up titles, which are the same for the same seed: some are
identical, some are restated or withdrawn as days pass. To request faults:

  curl -X PUT  http://127.0.0.1:PORT/_sandbox/faults -H 'content-type: application/json' -d '[{"kind":"status","status":500}]'
  curl -X DELETE http://127.0.0.1:PORT/_sandbox/faults

Open the address itself in a browser for the complete description.`,
    )
    .action(
      async (options: { port: number; seed: string; titlesPerDay: number; tokenFile?: string }) => {
        exit(
          await runCommand({ platform: false }, async ({ signal }) => {
            const sandbox = await startSandbox(options);
            const token = sandbox.issueToken({ expiresInSeconds: TOKEN_LIFETIME_SECONDS });
            if (options.tokenFile !== undefined) {
              writeFileSync(options.tokenFile, token, { mode: 0o600 });
            }
            process.stderr.write(
              `The sandbox serves at ${sandbox.baseUrl} until Ctrl-C. In another terminal:\n` +
                `  export PLATFORM_BASE_URL=${sandbox.baseUrl}\n` +
                `  export PLATFORM_TOKEN=${token}\n`,
            );
            if (!signal.aborted) await once(signal, 'abort');
            await sandbox.close();
            return { document: {}, text: '', exit: EXIT.done };
          }),
        );
      },
    );
}
