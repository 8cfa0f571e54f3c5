import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createMigratedDatabase } from '../../support/database.ts';

const COMMAND = join(import.meta.dirname, '../../../bin/conciliation.js');

export interface ExportRun {
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A migrated database with titles put in by SQL, and the command line run against it. */
export interface ExportWorld {
  readonly url: string;
  readonly client: Client;
  /** Empty for each world; a place for the files that are written. */
  readonly folder: string;
  insertTitle(columns: Readonly<Record<string, string | number | boolean | null>>): Promise<void>;
  /** Many titles of one date, quick to make, none like another. */
  insertTitles(date: string, count: number): Promise<void>;
  spawnExport(args: readonly string[], nodeArgs?: readonly string[]): ChildProcess;
  runExport(args: readonly string[], nodeArgs?: readonly string[]): Promise<ExportRun>;
  close(): Promise<void>;
}

export async function openExportWorld(): Promise<ExportWorld> {
  const testDatabase = await createMigratedDatabase();
  const client = new Client({ connectionString: testDatabase.url });
  await client.connect();
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-export-'));
  const running = new Set<ChildProcess>();

  const world: ExportWorld = {
    url: testDatabase.url,
    client,
    folder,
    async insertTitle(columns) {
      const row = {
        occurrence: 1,
        identity_hash: crypto.randomUUID(),
        content_hash: crypto.randomUUID(),
        raw_hash: crypto.randomUUID(),
        first_pull_id: 1,
        last_change_pull_id: 1,
        ...columns,
      };
      const names = Object.keys(row);
      await client.query(
        `INSERT INTO conciliation.title (${names.join(', ')})
         VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
        Object.values(row),
      );
    },
    async insertTitles(date, count) {
      await client.query(
        `INSERT INTO conciliation.title
           (order_uid, occurrence, accepted_date, anticipated_due_date, buyer_identification,
            provider_external_id, provider_identification, provider_bank, provider_account,
            financial_agent_name, buyer_is_financial, payment_type, original_value,
            platform_discounted_value, billing_fee, identity_hash, content_hash, raw_hash,
            first_pull_id, last_change_pull_id)
         SELECT md5(n::text), 1, $1::date, $1::date + 30, '12345678000195', 'provider ' || n % 5000,
                lpad(n::text, 14, '0'), '341', lpad(n::text, 9, '0'), 'Agent of order ' || n, n % 2 = 0,
                'BANK_TRANSFER', n + 0.01, n + 0.005, 0.1, gen_random_uuid(), gen_random_uuid(),
                gen_random_uuid(), 1, 1
         FROM generate_series(1, $2::int) AS n`,
        [date, count],
      );
    },
    spawnExport(args, nodeArgs = []) {
      const child = spawn(process.execPath, [...nodeArgs, COMMAND, 'export', ...args], {
        cwd: folder,
        env: { PATH: process.env['PATH'], DATABASE_URL: testDatabase.url },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running.add(child);
      child.once('close', () => running.delete(child));
      return child;
    },
    async runExport(args, nodeArgs) {
      const child = world.spawnExport(args, nodeArgs);
      const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
      child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
      child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
      const [status] = (await once(child, 'close')) as [number | null];
      return { status, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
    },
    async close() {
      for (const child of running) child.kill('SIGKILL');
      await client.end();
      await testDatabase.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return world;
}
