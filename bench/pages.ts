/** The time of pages of the console, asked over HTTP, one request after another. */
import { Registry } from 'prom-client';
import { request } from 'undici';
import { FEATURES } from '#dist/app/features.js';
import { openDatabase } from '#dist/base/database/database.js';
import { startSession } from '#dist/console/access/console-sessions.sql.js';
import { addUser } from '#dist/console/access/console-users.sql.js';
import { createConsole } from '#dist/console/shell/server.js';
import { itemAt, median } from './numbers.ts';
import { logger } from './server.ts';

const WARM_UP_ROUNDS = 3;

export type Page = [name: string, path: string, limitMs: number];

/** Writes a line for each page. A median over its limit makes the exit status of the process 1. */
export async function measurePages(
  databaseUrl: string,
  pages: readonly Page[],
  rounds: number,
): Promise<void> {
  const tell = (line: string) => process.stdout.write(`${line}\n`);
  const { url, cookie, close } = await openConsole(databaseUrl);
  tell(`${'page'.padEnd(36)} median ms   p95 ms   limit`);
  for (const [name, path, limitMs] of pages) {
    const times: number[] = [];
    for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
      const startedMs = performance.now();
      const answer = await request(url + path, { headers: { cookie, accept: 'text/html' } });
      await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
      if (round >= 0) times.push(performance.now() - startedMs);
    }
    times.sort((a, b) => a - b);
    const p95 = itemAt(times, Math.floor(times.length * 0.95));
    const isOver = median(times) > limitMs;
    if (isOver) process.exitCode = 1;
    const cells = [median(times).toFixed(1).padStart(9), p95.toFixed(1).padStart(8)];
    const end = `${String(limitMs).padStart(7)}${isOver ? '  OVER' : ''}`;
    tell(`${name.padEnd(36)} ${cells.join(' ')} ${end}`);
  }
  await close();
}

async function openConsole(databaseUrl: string) {
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
  const where = { name: 'bench' };
  const user = await database.prisma.consoleUser.update({ where, data: { passwordHash } });
  const token = await startSession(database, { ...user, passwordHash, totpSecret: null }, null);
  const close = async () => {
    await web.close();
    await database.close();
  };
  return { url, cookie: `conciliation=${token}`, close };
}
