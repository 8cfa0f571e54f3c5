import { mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseTemplate, run } from './database-template.ts';

/** Room for a run on the small filesystem, besides what the template takes. */
const SMALL_FILESYSTEM = '192m';
const REMOVAL_TRIES = 10;
const BALLAST_PIECE = Buffer.alloc(1024 * 1024);

/** The files of one run: its copy of the cluster, on a separate filesystem if the run requires one. */
export type RunFolder = Awaited<ReturnType<typeof openRunFolder>>;

export async function openRunFolder(template: DatabaseTemplate, name: string, isSmall: boolean) {
  const path = join(template.folder, name);
  const dataDir = join(path, 'data');
  await mkdir(dataDir, { recursive: true });
  if (isSmall) await mount(dataDir);
  await run('cp', ['-a', `${template.cluster.dataDir}/.`, dataDir]);
  const ballast = join(dataDir, 'ballast');
  const remove = async () => {
    for (let tries = 1; ; tries += 1) {
      // While other mounts come and go, it may overlook this one and say that there is none.
      if (isSmall) await run('umount', ['-l', dataDir]).catch(() => {});
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
      const file = await open(ballast, 'a');
      try {
        for (let size = BALLAST_PIECE.length; size >= 512; size /= 2) {
          await writeUntilFull(file, BALLAST_PIECE.subarray(0, size));
        }
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast, { force: true }),
    /** Replaces a file whole. A concurrent reader reads the old content. */
    async write(file: string, text: string) {
      await writeFile(join(path, `${file}.new`), text);
      await rename(join(path, `${file}.new`), join(path, file));
      return join(path, file);
    },
    remove,
    /** Moves the files to where they stay, and returns the place. */
    async keep(target: string) {
      await mkdir(target, { recursive: true });
      await run('cp', ['-a', `${path}/.`, target]);
      await remove();
      return target;
    },
  };
}

async function writeUntilFull(
  file: Awaited<ReturnType<typeof open>>,
  piece: Uint8Array,
): Promise<void> {
  for (;;) {
    try {
      const { bytesWritten } = await file.write(piece);
      if (bytesWritten < piece.length) return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
      throw error;
    }
  }
}

async function mount(folder: string): Promise<void> {
  const options = `size=${SMALL_FILESYSTEM},mode=0711`;
  await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
}

/** Null where a small filesystem can be made; else why the disk cannot be filled here. */
export async function whyNoSmallFilesystem(): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-small-'));
  try {
    await mount(folder);
    await run('umount', ['-l', folder]);
    return null;
  } catch {
    return 'a small filesystem can only be mounted by root';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
