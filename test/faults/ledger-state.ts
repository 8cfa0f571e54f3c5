import type { Client } from 'pg';

/** The open work of the ledger, in words; empty if no work is open. */
export async function readUnfinished(
  client: Client,
  dates: readonly string[],
  slotDate: string,
): Promise<string[]> {
  const { rows: open } = await client.query<{ text: string }>(
    `SELECT format('pull %s of %s is %s (%s)', id, date, state, error_code) AS text
     FROM conciliation.pull WHERE state IN ('queued', 'running') ORDER BY id`,
  );
  // The dates that were planned for the slot, pulled by any process.
  const { rows: missing } = await client.query<{ text: string }>(
    `SELECT format('%s has no pull of the slot', wanted) AS text
     FROM unnest($1::date[]) AS wanted
     WHERE NOT EXISTS (SELECT FROM conciliation.pull
                       WHERE date = wanted
                         AND slot_at >= $2::date AT TIME ZONE 'UTC')`,
    [dates, slotDate],
  );
  return [...open, ...missing].map(({ text }) => text);
}

/** Whether a session of the service waits for what another one holds. */
export async function waitsForLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ sessions: number }>(
    `SELECT count(*)::int AS sessions FROM pg_stat_activity
     WHERE wait_event_type = 'Lock' AND application_name LIKE 'conciliation%'
       AND datname = current_database()`,
  );
  return (rows[0]?.sessions ?? 0) > 0;
}
