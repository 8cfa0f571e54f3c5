// `conciliation start` with other times and another clock: node service-process.mjs <options as JSON>.
// It reads its configuration, logs, takes signals and exits as the command does.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { startService } from '#dist/app/service.js';
import { runCommand } from '#dist/cli/command.js';

/** @import { Role, ServiceOverrides } from '#dist/app/service.js' */

/**
 * Without a clock file, or with an empty name, the process has the clock of the system.
 *
 * @type {{ roles: Role[], clockFile?: string, overrides: ServiceOverrides }}
 */
const { roles, clockFile, overrides } = JSON.parse(process.argv[2] ?? '');
// A file, so that one test can set the clocks of several processes at once.
const clock = clockFile ? { now: () => new Date(readFileSync(clockFile, 'utf8')) } : undefined;

process.exitCode = await runCommand(
  { platform: true, service: true },
  async ({ config, logger, signal }) => {
    const service = await startService({
      config,
      logger,
      roles: new Set(roles),
      overrides: { ...overrides, ...(clock && { clock }) },
    });
    if (!signal.aborted) await once(signal, 'abort');
    await service.stop();
    return { document: {}, text: '', exit: 0 };
  },
);
