/** One measured run of one side: a clean database, a new process, the clock, and a check of what the run did. */
import { deepStrictEqual } from 'node:assert';
import type { Client } from 'pg';
import { addDays, type CivilDate, toCivilDate } from '#dist/base/values/business-day.js';
import { AMOUNT_COLUMNS } from '#dist/core/title/title.js';
import { runChild } from './child.ts';
import type { EngineProgram, PullCounts } from './engine-process.ts';
import type { LimitProgram } from './limit-process.ts';
import type { MeterReading } from './meter.ts';
import { itemAt } from './numbers.ts';
import type { Platform } from './platform.ts';
import type { Answer, Variant } from './render-process.ts';
import type { Server } from './server.ts';

/** Of a pull before the clock starts. */
export const WARM_UP_DATE = toCivilDate('2021-03-01');

export type Side = 'ours' | 'limit';

/** What is measured against the limit. */
export interface Case {
  readonly name: string;
  readonly title: string;
  /** `one`: one response of each size; `many`: responses of 1,000 titles, one for each day. */
  readonly days: 'one' | 'many';
  /** The last days only; all of them unless given. */
  readonly atMostDays?: number;
  /** What the tables hold when the clock starts. */
  readonly before: 'nothing' | 'base';
  readonly answer: Variant;
  /** Concurrent pulls of our side; the limit takes one response after the other. */
  readonly pullsAtOnce: number;
}

/** What all runs have in common. */
export interface Bench {
  readonly server: Server;
  readonly platform: Platform;
}

export interface Run {
  readonly side: Side;
  /** Is clean. */
  readonly database: string;
  readonly answers: readonly Answer[];
  readonly pullsAtOnce: number;
}

type Reading = MeterReading & { readonly titles: number } & Partial<PullCounts>;

export interface Measured extends Reading {
  readonly titlesPerSecond: number;
  readonly workerCpuMsPerPull: number;
  readonly tables: Awaited<ReturnType<typeof describeTables>>;
}

export async function measure(bench: Bench, run: Run): Promise<Measured> {
  const { answers, database, side } = run;
  for (const { date, body } of answers) bench.platform.answers.set(date, body);
  const reading: Reading = side === 'ours' ? await runOurs(bench, run) : await runLimit(bench, run);
  const dates = answers.map(({ date }) => date);
  const tables = await bench.server.inDatabase(database, (client) =>
    describeTables(client, side, dates),
  );
  return {
    ...reading,
    titlesPerSecond: (1000 * reading.titles) / reading.elapsedMs,
    workerCpuMsPerPull: (1000 * reading.workerCpuSeconds) / answers.length,
    tables,
  };
}

const runLimit = ({ server }: Bench, { database, answers }: Run) =>
  runChild<LimitProgram>('limit-process', { databaseUrl: server.urlOf(database), answers });

async function runOurs({ server, platform }: Bench, { database, answers, pullsAtOnce }: Run) {
  const dates = answers.map(({ date }) => date);
  return runChild<EngineProgram>('engine-process', {
    baseUrl: platform.baseUrl,
    databaseUrl: server.urlOf(database),
    startDate: itemAt(dates, 0),
    today: addDays(itemAt(dates, -1), 1),
    warmUp: { databaseUrl: await server.createDatabase('bench_warm_up'), date: WARM_UP_DATE },
    dates,
    pullsAtOnce,
  });
}

const sums = AMOUNT_COLUMNS.map((name) => `'${name}', sum(${name})::text`).join(', ');

/** What a run left in the tables. Both sides must leave the same, and ours its ledger and history too. */
async function describeTables(client: Client, side: Side, dates: readonly CivilDate[]) {
  const table = side === 'ours' ? 'conciliation.title' : 'bench_limit.title';
  const content = await client.query(
    `SELECT count(*)::int AS titles, count(*) FILTER (WHERE status = 'current')::int AS current,
            jsonb_build_object(${sums}) AS sums,
            encode(sha256(string_agg(uuid_send(content_hash), '' ORDER BY content_hash)), 'hex') AS digest
     FROM ${table} WHERE accepted_date = ANY($1::date[])`,
    [dates],
  );
  const ledger = await client.query(
    `SELECT sum(title_count)::int AS titles, sum(original_value_sum)::text AS "originalValue",
            (count(*) FILTER (WHERE state = 'reconciled'))::int AS reconciled,
            (SELECT last_reconciled_date::text FROM conciliation.checkpoint) AS "lastReconciledDate",
            (SELECT count(*)::int FROM conciliation.title_revision) AS revisions
     FROM conciliation.day WHERE date = ANY($1::date[])`,
    [dates],
  );
  return { content: content.rows[0], ledger: side === 'ours' ? ledger.rows[0] : null };
}

/** The figure of a run that did something else than it should is worth nothing: it ends the benchmark. */
export function verify(
  spec: Case,
  answers: readonly Answer[],
  { ours, limit }: Record<Side, Measured>,
): void {
  const sum = (field: 'titles' | 'changed') =>
    answers.reduce((total, answer) => total + answer[field], 0);
  const [titles, changed] = [sum('titles'), sum('changed')];
  const isNew = spec.before === 'nothing';
  const { content, ledger } = ours.tables;
  const { inserted, unchanged, rejected, withdrawn, restored } = ours;
  deepStrictEqual(
    [ours.titles, inserted, ours.changed, unchanged, rejected, withdrawn, restored],
    [titles, isNew ? titles : 0, changed, isNew ? 0 : titles - changed, 0, 0, 0],
  );
  deepStrictEqual([content.titles, content.current], [titles, titles]);
  deepStrictEqual(ledger, {
    titles,
    originalValue: content.sums['original_value'],
    reconciled: answers.length,
    lastReconciledDate: itemAt(answers, -1).date,
    revisions: changed,
  });
  deepStrictEqual(limit.titles, titles);
  deepStrictEqual(limit.tables.content, content);
}
