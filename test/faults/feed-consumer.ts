import type { Client } from 'pg';
import { rowSql } from './platform-titles.ts';
import { type Poller, startPolling } from './polling.ts';
import type { Violations } from './violations.ts';

const INTERVAL_MS = 25;
/** Few, so that a merge is often read in the middle. */
const PAGE = 5;

const FEED = `
  SELECT change_seq::text AS seq, id::text, status || ' ' || ${rowSql('feed')} AS row
  FROM conciliation.title_feed AS feed WHERE change_seq > $1 ORDER BY change_seq LIMIT ${PAGE}`;

const TITLES = `
  SELECT id::text, status || ' ' || ${rowSql('title')} AS row,
         (SELECT count(*) FROM conciliation.title_revision WHERE title_id = title.id)::int
         + (SELECT count(*) FROM conciliation.title_change AS change
            WHERE change.title_id = title.id AND change.kind = 'payment_decided')::int AS changes
  FROM conciliation.title AS title`;

/** An ERP that reads the feed page by page during the whole run. Its titles come only from the feed. */
export class FeedConsumer {
  readonly #violations: Violations;
  readonly #titles = new Map<string, { row: string; deliveries: number }>();
  readonly #delivered = new Set<string>();
  readonly #poller: Poller;
  #last = '0';

  constructor(databaseUrl: string, violations: Violations) {
    this.#violations = violations;
    this.#poller = startPolling(databaseUrl, INTERVAL_MS, (client) => this.#read(client));
  }

  /** Reads to the feed's end and compares with the table. */
  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  /** To be called once nothing changes any more and the consumer has stopped. */
  async compare(client: Client): Promise<void> {
    const { rows } = await client.query<{ id: string; row: string; changes: number }>(TITLES);
    for (const { id, row, changes } of rows) {
      const mine = this.#titles.get(id);
      if (mine?.row !== row) this.#violations.add(9, `title ${id}: the feed told another state`);
      // A title is delivered when it is first seen and once for each of its changes and released payments, at most.
      if ((mine?.deliveries ?? 0) > 1 + changes) {
        this.#violations.add(9, `title ${id}: ${mine?.deliveries} deliveries of ${1 + changes}`);
      }
    }
    if (rows.length !== this.#titles.size) {
      this.#violations.add(9, `the feed told of ${this.#titles.size} titles, not ${rows.length}`);
    }
  }

  async #read(client: Client): Promise<void> {
    for (;;) {
      const { rows } = await client.query<{ seq: string; id: string; row: string }>(FEED, [
        this.#last,
      ]);
      for (const { seq, id, row } of rows) {
        if (this.#delivered.has(seq)) this.#violations.add(9, `change ${seq} came twice`);
        this.#delivered.add(seq);
        const deliveries = (this.#titles.get(id)?.deliveries ?? 0) + 1;
        this.#titles.set(id, { row, deliveries });
        this.#last = seq;
      }
      if (rows.length < PAGE) return;
    }
  }
}
