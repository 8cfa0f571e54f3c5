import { readFile } from 'node:fs/promises';
import type { Client } from 'pg';
import { readDay } from './check-end.ts';
import { rowSql } from './platform-titles.ts';
import type { ServedDays } from './served-days.ts';
import type { Violations } from './violations.ts';

const PAGE = 500;

const state = (alias: string) => `${alias}.status || ' ' || md5(${rowSql(alias)})`;

/** The query of a reader: its line is `change_seq id kind status` and the MD5 of the current title. */
export const READER_QUERY = `
  SELECT change_seq::text AS seq,
         concat_ws(' ', change_seq, id, change_kind, ${state('feed')}) AS line
  FROM conciliation.title_feed AS feed WHERE change_seq > $1 ORDER BY change_seq LIMIT ${PAGE}`;

/** Changes by their cause: each title was inserted once, each revision is one change. */
const UNMATCHED = `
  WITH cause AS (
    SELECT id AS title_id, 'inserted' AS kind, first_pull_id AS pull_id FROM conciliation.title
    UNION ALL SELECT title_id, kind, pull_id FROM conciliation.title_revision
  ), change AS (SELECT title_id, kind, pull_id FROM conciliation.title_change)
  SELECT 'has no number' AS fault, * FROM (SELECT * FROM cause EXCEPT ALL SELECT * FROM change) AS a
  UNION ALL
  SELECT 'has a number too many', * FROM (SELECT * FROM change EXCEPT ALL SELECT * FROM cause) AS b`;

/** A row of `title_change` as text. */
interface Change {
  readonly seq: number;
  /** `id kind` */
  readonly what: string;
}

export async function readChanges(client: Client): Promise<Change[]> {
  const { rows } = await client.query<{ seq: string; what: string }>(
    `SELECT change_seq AS seq, title_id || ' ' || kind AS what
     FROM conciliation.title_change ORDER BY change_seq`,
  );
  return rows.map(({ seq, what }) => ({ seq: Number(seq), what }));
}

/** The complete lines of a reader's file. */
export async function readLines(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(0, -1);
}

/** The number of the last line, 0 where there is none. */
export function lastNumber(lines: readonly string[]): number {
  return Number.parseInt(lines.at(-1) ?? '0', 10);
}

/** A reader's file has exactly the changes, in order, and each title's last line shows the title as it is. */
export async function checkReader(
  client: Client,
  reader: { readonly name: string; readonly lines: readonly string[] },
  changes: readonly Change[],
  violations: Violations,
): Promise<void> {
  const fail = (what: string) => violations.add(9, `${reader.name}: ${what}`);
  const states = new Map<string, string>();
  let at = 0;
  let last = 0;
  const passOver = (until: number) => {
    for (let next = changes[at]; next !== undefined && next.seq < until; next = changes[++at]) {
      fail(`change ${next.seq} (${next.what}) is missing, expected after ${last}`);
    }
  };
  for (const line of reader.lines) {
    const [number, id = '', kind, ...rest] = line.split(' ');
    const seq = Number(number);
    states.set(id, rest.join(' '));
    if (seq <= last) {
      fail(`change ${seq} (${id} ${kind}) comes after ${last}, expected a greater number`);
      continue;
    }
    passOver(seq);
    const expected = changes[at]?.seq === seq ? changes[at++]?.what : 'no change of that number';
    if (expected !== `${id} ${kind}`) fail(`change ${seq} is ${id} ${kind}, expected ${expected}`);
    last = seq;
  }
  passOver(Number.POSITIVE_INFINITY);

  const { rows } = await client.query<{ id: string; state: string }>(
    `SELECT id::text, ${state('title')} AS state FROM conciliation.title AS title`,
  );
  for (const { id, state } of rows) {
    const told = states.get(id) ?? 'nothing';
    if (told !== state) fail(`the last row of title ${id} told ${told}, expected ${state}`);
  }
}

/** Each change has one number, and each date equals the platform's answer. */
export async function checkTables(
  client: Client,
  served: ServedDays,
  violations: Violations,
): Promise<void> {
  const { rows } = await client.query<Record<string, string>>(UNMATCHED);
  for (const { fault, title_id, kind, pull_id } of rows) {
    violations.add(9, `title_change: ${kind} of title ${title_id} by pull ${pull_id} ${fault}`);
  }
  for (const date of served.dates) {
    const day = await readDay(client, date);
    const wanted = served.latest(date);
    if (day?.digest !== wanted.digest) {
      violations.add(
        1,
        `title: ${date} has ${day?.titles} titles, not the ${wanted.titles.length} served`,
      );
    }
  }
}
