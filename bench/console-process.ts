/** The console in a process of its own, so that the measured memory is that of the console alone. */
import { Registry } from 'prom-client';
import { FEATURES } from '#dist/app/features.js';
import { openDatabase } from '#dist/base/database/database.js';
import { createLogger } from '#dist/base/runtime/logger.js';
import { startSession } from '#dist/console/access/console-sessions.sql.js';
import { addUser } from '#dist/console/access/console-users.sql.js';
import { createConsole } from '#dist/console/shell/server.js';
import { answerParent } from './child.ts';

const logger = createLogger({ logLevel: 'error' });
async function open({ databaseUrl }: { readonly databaseUrl: string }) {
  const database = openDatabase({ databaseUrl, applicationName: 'bench', logger });
  const web = createConsole({
    host: '127.0.0.1',
    port: 0,
    checks: [],
    registry: new Registry(),
    parts: {
      database,
      logger,
      features: FEATURES,
      version: 'bench',
      timeZone: 'America/Sao_Paulo',
      fourEyes: true,
      requiresSecondFactor: false,
      publicUrl: null,
      oidc: null,
      wake: async () => {},
      plan: () => {},
    },
  });
  const { url } = await web.start();
  await addUser(database, { name: 'bench', role: 'admin', by: 'bench' });
  const passwordHash = 'of no password';
  const { id } = await database.prisma.consoleUser.update({
    where: { name: 'bench' },
    data: { passwordHash },
  });
  const user = { id, name: 'bench' };
  const token = await startSession(database, user, null, { passwordHash, totpSecret: null });
  return { url, cookie: `conciliation=${token}` };
}
export type ConsoleProgram = typeof open;

answerParent(open);
