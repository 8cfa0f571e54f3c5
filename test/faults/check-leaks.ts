import { readFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import type { Client } from 'pg';
import { leaksIn } from '../support/canary.ts';
import type { Violations } from './violations.ts';

/** Tables that roles without access to titles may read. */
const OPEN_TABLES = [
  'conciliation.pull',
  'conciliation.title_change',
  'conciliation.day',
  'conciliation.checkpoint',
  'conciliation.drift',
  'conciliation.alert',
  'conciliation.audit_entry',
];

/** (8) Personal data and secrets of the run, wherever they must not be. */
export class LeakCheck {
  readonly #violations: Violations;
  readonly #secrets: readonly string[];

  constructor(violations: Violations, secrets: readonly string[]) {
    this.#violations = violations;
    this.#secrets = secrets;
  }

  text(where: string, text: string): void {
    for (const leak of leaksIn(text, this.#secrets)) this.#violations.add(8, `${where}: ${leak}`);
  }

  async file(path: string): Promise<void> {
    this.text(path, await readFile(path, 'utf8'));
  }

  async tables(client: Client): Promise<void> {
    const { rows: jobs } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname = 'conciliation_queue'`,
    );
    for (const table of [...OPEN_TABLES, ...jobs.map(({ name }) => name)]) {
      const { rows } = await client.query<{ text: string | null }>(
        `SELECT string_agg(to_jsonb(entry)::text, E'\\n') AS text FROM ${table} AS entry`,
      );
      this.text(`the table ${table}`, rows[0]?.text ?? '');
    }
  }

  /** Every key and all it holds. */
  async redis(url: string): Promise<void> {
    const client = new Redis(url);
    try {
      for (const key of await client.keys('*')) {
        this.text(`the key ${key}`, `${key} ${JSON.stringify(await readKey(client, key))}`);
      }
    } finally {
      client.disconnect();
    }
  }

  async page(url: string): Promise<void> {
    const response = await fetch(url).catch(() => null);
    if (response !== null) this.text(url, await response.text());
  }
}

async function readKey(client: Redis, key: string): Promise<unknown> {
  switch (await client.type(key)) {
    case 'hash':
      return client.hgetall(key);
    case 'list':
      return client.lrange(key, '0', '-1');
    case 'set':
      return client.smembers(key);
    case 'zset':
      return client.zrange(key, '0', '-1');
    case 'stream':
      return client.xrange(key, '-', '+');
    default:
      return client.get(key);
  }
}
