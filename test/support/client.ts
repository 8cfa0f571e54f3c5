import { Client, type ClientConfig } from 'pg';

/** Runs `work` on a separate connection. If the server stops, the running statement fails. */
export async function withClient<T>(
  url: string,
  work: (client: Client) => Promise<T>,
  settings: ClientConfig = {},
): Promise<T> {
  const client = new Client({ connectionString: url, ...settings });
  // The failing statement reports the loss. An `error` event without a listener would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** The rows of one statement on a separate connection. */
export const queryOnce = (url: string, statement: string): Promise<Record<string, unknown>[]> =>
  withClient(url, async (client) => (await client.query(statement)).rows);
