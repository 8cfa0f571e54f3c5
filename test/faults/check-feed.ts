import type { Client } from 'pg';
import { rowSql } from './platform-titles.ts';
import type { Violations } from './violations.ts';

const state = (alias: string) => `${alias}.status || ' ' || md5(${rowSql(alias)})`;

const FEED = `
  SELECT change_seq::float8 AS seq, id || ' ' || change_kind AS what, id::text AS title, ${state('feed')} AS state
  FROM conciliation.title_feed AS feed WHERE change_seq > $1 ORDER BY change_seq`;

const CHANGES = `
  SELECT change_seq::float8 AS seq, title_id || ' ' || kind AS what FROM conciliation.title_change`;

/** Each title was inserted once, and each revision is one change. A changed hold of a payment adds others. */
const UNNUMBERED = `
  SELECT id || ' inserted' AS what, first_pull_id AS pull_id FROM conciliation.title
  UNION ALL SELECT title_id || ' ' || kind, pull_id FROM conciliation.title_revision
  EXCEPT ALL SELECT title_id || ' ' || kind, pull_id FROM conciliation.title_change`;

/** A consumer of `title_feed`: it asks for what comes after its greatest number, and for nothing again. */
export class FeedReader {
  /** `id kind` of each change, by its number. */
  readonly #changes = new Map<number, string>();
  /** What the feed said last of a title. */
  readonly #states = new Map<string, string>();
  #last = 0;

  async read(client: Client): Promise<void> {
    const { rows } = await client.query(FEED, [this.#last]);
    for (const { seq, what, title, state } of rows) {
      this.#changes.set(seq, what);
      this.#states.set(title, state);
      this.#last = seq;
    }
  }

  /** (9) It has each change exactly once, and knows each title as it is. */
  async check(client: Client, violations: Violations): Promise<void> {
    const { rows: changes } = await client.query<{ seq: number; what: string }>(CHANGES);
    for (const { seq, what } of changes) {
      const read = this.#changes.get(seq);
      if (read !== what) violations.add(9, `change ${seq} is ${what}, and was read as ${read}`);
    }
    const more = this.#changes.size - changes.length;
    if (more > 0) violations.add(9, `${more} changes were read and are gone`);
    const { rows: titles } = await client.query<{ id: string; state: string }>(
      `SELECT id::text, ${state('title')} AS state FROM conciliation.title AS title`,
    );
    for (const { id, state } of titles) {
      const read = this.#states.get(id);
      if (read !== state) violations.add(9, `title ${id} is ${state}, and was read as ${read}`);
    }
    const { rows: unnumbered } = await client.query(UNNUMBERED);
    for (const { what, pull_id } of unnumbered) {
      violations.add(9, `${what} by pull ${pull_id} has no number`);
    }
  }
}
