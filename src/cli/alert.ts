import type { Command } from 'commander';
import { testMessage } from '../alerts/alert-message.ts';
import { messageStyle, openChannels } from '../app/alert-channels.ts';
import { ConfigError } from '../runtime/errors.ts';
import { EXIT, type Exit, type ExitStatus, runCommand } from './command-run.ts';
import { renderTable } from './output/table.ts';

/** Adds the command that tests the channels for alerts. */
export function addAlertCommand(program: Command, exit: Exit): void {
  const alert = program.command('alert').description('test the channels for alerts');
  alert
    .command('test')
    .description('send a test message to each channel')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Sends one message to each channel of the configuration, without a retry, and prints the result of each.

Exit status: 0 each channel took the message, 1 a channel failed or there is none.

Example: conciliation alert test`,
    )
    .action(async ({ json }: { json?: boolean }) => {
      exit(await testChannels(json));
    });
}

function testChannels(json: boolean | undefined): Promise<ExitStatus> {
  return runCommand({ json, platform: false }, async ({ config, signal }) => {
    const message = testMessage(messageStyle(config));
    const channels = await Promise.all(
      openChannels(config).map(async (channel) => {
        try {
          await channel.prepare();
          return { channel: channel.name, fault: await channel.send(message, signal) };
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          return { channel: channel.name, fault: error.message };
        }
      }),
    );
    const rows = channels.map(({ channel, fault }) => [
      channel,
      fault === null ? 'delivered' : `failed: ${fault}`,
    ]);
    const isDone = channels.length > 0 && channels.every(({ fault }) => fault === null);
    return {
      document: { channels },
      text:
        rows.length === 0
          ? 'The configuration names no channel: alerts go to the log only.'
          : renderTable(['channel', 'result'], rows),
      exit: isDone ? EXIT.done : EXIT.failed,
    };
  });
}
