import { Client } from 'pg';

/** A connection that is kept from question to question; one that failed is not used again. */
export class LastingClient {
  readonly #url: string;
  #client: Client | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  async ask<T>(question: (client: Client) => Promise<T>): Promise<T> {
    const client = this.#client ?? new Client({ connectionString: this.#url });
    try {
      if (client !== this.#client) await client.on('error', () => {}).connect();
      this.#client = client;
      return await question(client);
    } catch (error) {
      this.#client = null;
      client.end().catch(() => {});
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#client?.end().catch(() => {});
    this.#client = null;
  }
}
