import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { migrate } from '../../src/base/database/migrate.ts';
import { type Cluster, ensureCluster } from '../../src/base/embedded/embedded-postgres.ts';
import { openQueues } from '../../src/core/work/job-queue.ts';
import { logger } from '../support/logger.ts';
import { FaultyPostgres } from './faulty-postgres.ts';

export const run = promisify(execFile);

/** In the template: one database with both schemas, and one with nothing in it. */
export const DATABASES = { migrated: 'conciliation', empty: 'empty' } as const;

/** A stopped cluster that every run starts from a copy of, because making one takes seconds. */
export interface DatabaseTemplate {
  /** Where runs keep their files: in memory, where the system has room there. */
  readonly folder: string;
  readonly cluster: Cluster;
  remove(): Promise<void>;
}

const MEMORY_FOLDER = '/dev/shm';
const MEMORY_NEEDED_BYTES = 2 * 1024 ** 3;

export async function createTemplate(): Promise<DatabaseTemplate> {
  const folder = await mkdtemp(join(await fastFolder(), 'conciliation-faults-'));
  const remove = () => removeNow(folder);
  process.once('exit', remove);
  // The server may run as another user, who needs access to the folder.
  await run('chmod', ['711', folder]);
  const cluster = await ensureCluster(join(folder, 'template'));
  const server = await FaultyPostgres.start(cluster);
  try {
    for (const name of Object.values(DATABASES)) await createDatabase(server, name);
    const databaseUrl = server.url(DATABASES.migrated);
    await migrate({ databaseUrl, logger });
    const queue = await openQueues({ redisUrl: null, databaseUrl, logger });
    await queue.close();
  } finally {
    await server.stop();
  }
  return {
    folder,
    cluster,
    async remove() {
      process.off('exit', remove);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** For a run that was interrupted: an exit handler cannot wait for anything. */
function removeNow(folder: string): void {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : '';
  for (const line of mounts.split('\n')) {
    const [, path = ''] = line.split(' ');
    if (path.startsWith(`${folder}/`)) spawnSync('umount', ['-l', path]);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

async function fastFolder(): Promise<string> {
  if (!existsSync(MEMORY_FOLDER)) return tmpdir();
  const { bavail, bsize } = await statfs(MEMORY_FOLDER);
  return bavail * bsize > MEMORY_NEEDED_BYTES ? MEMORY_FOLDER : tmpdir();
}

async function createDatabase(server: FaultyPostgres, name: string): Promise<void> {
  const client = new Client({ connectionString: server.url('postgres') });
  await client.connect();
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  await client.end();
}
