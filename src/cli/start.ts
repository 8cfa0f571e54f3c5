import { once } from 'node:events';
import { ROLES, startService } from '../app/service.ts';
import { command, preset, someOf } from './command.ts';

const start = command({
  name: 'start',
  does: 'run the service until SIGTERM: schedule, pull, push, serve',
  words: {
    roles: preset(
      '<list>',
      'the roles of this process, separated by commas',
      [...ROLES],
      someOf(ROLES),
    ),
  },
  help: `Roles: scheduler decides each minute what is due; worker pulls titles and pushes providers; console
serves the pages, /healthz, /readyz and /metrics on CONSOLE_HOST:CONSOLE_PORT. One process has all three
by default. Several processes share one DATABASE_URL (and REDIS_URL); any number of processes of each role
may run.

On SIGTERM, running merges and pushes get 30 s to finish. Other work returns to the queue. The database is
stopped last.`,
  needs: { platform: true, service: true },
  async run({ config, logger, signal }, { roles }) {
    const service = await startService({ config, logger, roles: new Set(roles) });
    if (!signal.aborted) await once(signal, 'abort');
    await service.stop();
    return { document: {}, text: '' };
  },
});

export const COMMANDS = [start];
