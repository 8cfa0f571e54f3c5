import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '../../src/base/database/migrate.ts';
import { type Cluster, ensureCluster } from '../../src/base/embedded/embedded-postgres.ts';
import { openQueues } from '../../src/core/work/job-queue.ts';
import { queryOnce } from '../support/client.ts';
import { replaceFile } from '../support/for-tests.ts';
import { logger } from '../support/logger.ts';
import { outputOf, runProgram } from '../support/program.ts';
import { FaultyPostgres } from './faulty-postgres.ts';

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
  await outputOf('chmod', ['711', folder]);
  const cluster = await ensureCluster(join(folder, 'template'));
  const server = await FaultyPostgres.start(cluster);
  try {
    for (const name of Object.values(DATABASES)) {
      await queryOnce(server.url('postgres'), `CREATE DATABASE ${name} TEMPLATE template0`);
    }
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

/** Room for a run on the small filesystem, besides what the template takes. */
const SMALL_FILESYSTEM = '192m';
const REMOVAL_TRIES = 10;

/** The files of one run: its copy of the cluster, on a separate filesystem if the run requires one. */
export type RunFolder = Awaited<ReturnType<typeof openRunFolder>>;

export async function openRunFolder(template: DatabaseTemplate, name: string, isSmall: boolean) {
  const path = join(template.folder, name);
  const dataDir = join(path, 'data');
  await mkdir(dataDir, { recursive: true });
  if (isSmall) await mount(dataDir);
  await outputOf('cp', ['-a', `${template.cluster.dataDir}/.`, dataDir]);
  const ballast = join(dataDir, 'ballast');
  const remove = async () => {
    for (let tries = 1; ; tries += 1) {
      // While other mounts come and go, it may overlook this one and say that there is none.
      if (isSmall) await outputOf('umount', ['-l', dataDir]).catch(() => {});
      try {
        return await rm(path, { recursive: true, force: true });
      } catch (error) {
        if (tries === REMOVAL_TRIES) throw error;
        await sleep(200);
      }
    }
  };
  return {
    path,
    cluster: {
      ...template.cluster,
      dataDir,
      clusterDir: join(dataDir, 'postgres'),
      logFile: join(dataDir, 'postgres.log'),
    },
    /** Takes what room is left; only on a small filesystem. */
    async fill() {
      const { stderr } = await runProgram('sh', ['-c', 'cat /dev/zero >>"$0"', ballast], {
        environment: { LC_ALL: 'C' },
      });
      if (!stderr.includes('No space left')) throw new Error(stderr);
    },
    free: () => rm(ballast, { force: true }),
    write: (file: string, text: string) => replaceFile(path, file, text),
    remove,
    /** Moves the files to where they stay, and returns the place. */
    async keep(target: string) {
      await mkdir(target, { recursive: true });
      await outputOf('cp', ['-a', `${path}/.`, target]);
      await remove();
      return target;
    },
  };
}

async function mount(folder: string): Promise<void> {
  const options = `size=${SMALL_FILESYSTEM},mode=0711`;
  await outputOf('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
}

/** Null where a small filesystem can be made; else why the disk cannot be filled here. */
export async function whyNoSmallFilesystem(): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-small-'));
  try {
    await mount(folder);
    await outputOf('umount', ['-l', folder]);
    return null;
  } catch {
    return 'a small filesystem can only be mounted by root';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
