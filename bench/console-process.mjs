// The console alone, for bench/console.mjs: tells its address and a session, and ends when told.
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { startSession } from '#dist/console/access/console-sessions.sql.js';
import { addUser, findLoginUser } from '#dist/console/access/console-users.sql.js';
import { SESSION_LIMITS } from '#dist/console/shell/guard.js';
import { createConsole } from '#dist/console/shell/server.js';
import { openDatabase } from '#dist/database/database.js';
import { STALENESS_LIMITS } from '#dist/domain/alerts/pull-alerts.js';

const [databaseUrl = ''] = process.argv.slice(2);
const logger = pino({ level: 'silent' });
const database = openDatabase({ databaseUrl, applicationName: 'bench', logger });
const web = createConsole({
  host: '127.0.0.1',
  port: 0,
  checks: [],
  registry: new Registry(),
  logger,
  parts: {
    database,
    version: 'bench',
    timeZone: 'America/Sao_Paulo',
    alertPolicy: { ...STALENESS_LIMITS, timeZone: 'America/Sao_Paulo' },
    fourEyes: true,
    requiresSecondFactor: false,
    publicUrl: null,
    oidc: null,
    wake: async () => {},
    plan: () => {},
  },
});
const { url } = await web.start();
if ((await findLoginUser(database, 'bench')) === null) {
  await addUser(database, { name: 'bench', role: 'admin', by: 'bench' });
}
const user = await findLoginUser(database, 'bench');
if (user === null) throw new Error('the user that was added is missing');
const token = await startSession(database, user, SESSION_LIMITS, null, 'link');
process.send?.({ url, cookie: `conciliation=${token}` });
process.once('message', async () => {
  await web.close();
  await database.close();
  process.disconnect();
});
