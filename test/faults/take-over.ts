import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { LastingClient } from './lasting-client.ts';
import { waitsForLock } from './ledger-state.ts';

/** The time that a second process may take to do the work of a stopped process. */
const LIMIT_MS = 60_000;
const LOCK_WAIT_MS = 700;
const POLL_MS = 50;

/**
 * Waits until another process has done what a stopped one had in hand, or, where the stopped one holds
 * locks, has got as far as those.
 *
 * @param readUnfinished what is still to be done
 */
export async function untilOvertaken(
  databaseUrl: string,
  readUnfinished: (client: Client) => Promise<readonly string[]>,
): Promise<void> {
  const database = new LastingClient(databaseUrl);
  const deadline = Date.now() + LIMIT_MS;
  let waitingSince = Number.POSITIVE_INFINITY;
  while (Date.now() < deadline && Date.now() - waitingSince < LOCK_WAIT_MS) {
    await sleep(POLL_MS);
    const [unfinished, isWaiting] = await database.ask(async (client) => [
      await readUnfinished(client),
      await waitsForLock(client),
    ]);
    if (unfinished.length === 0) break;
    waitingSince = isWaiting ? Math.min(waitingSince, Date.now()) : Number.POSITIVE_INFINITY;
  }
  await database.close();
}
