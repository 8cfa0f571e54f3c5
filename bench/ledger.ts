/** A database whose titles were pulled from the sandbox, for what reads a ledger. */
import { addDays, type CivilDate } from '#dist/base/values/business-day.js';
import { startChild } from './child.ts';
import type { EngineOptions, EngineProgram } from './engine-process.ts';
import { itemAt } from './numbers.ts';
import type { SandboxProgram } from './sandbox-process.ts';
import type { Server } from './server.ts';

/** The last date may have a number of titles of its own. The sandbox still answers afterwards. */
export async function pullLedger(
  server: Server,
  database: string,
  dates: readonly CivilDate[],
  titlesPerDay: number,
  titlesOfLastDay = titlesPerDay,
) {
  const [startDate, lastDate] = [itemAt(dates, 0), itemAt(dates, -1)];
  const today = addDays(lastDate, 1);
  const now = { SANDBOX_NOW: `${today}T12:00:00Z` };
  const sandbox = startChild<SandboxProgram>('sandbox-process', now);
  const address = await sandbox.call('address');
  await sandbox.call('setDays', { dates, titles: titlesPerDay });
  await sandbox.call('setDays', { dates: [lastDate], titles: titlesOfLastDay });
  const databaseUrl = await server.createDatabase(database);
  const options: EngineOptions = { address, databaseUrl, startDate, today };
  const engine = startChild<EngineProgram>('engine-process');
  await engine.call('open', options);
  // The last date first: a day of many times the usual number of titles would be held.
  const load = await engine.call('pull', { dates: [lastDate], pullsAtOnce: 1 });
  await engine.call('pull', { dates: dates.slice(0, -1), pullsAtOnce: 4 });
  await engine.stop();
  await server.inDatabase(database, (client) => client.query('VACUUM (ANALYZE)'));
  return { ...options, load };
}
