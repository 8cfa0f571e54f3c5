import { randomBytes } from 'node:crypto';
import { access, chmod, constants, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConciliationError, InputError, ShutdownError } from '../../base/runtime/errors.ts';

export interface OutFile {
  readonly path: string;
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
}

/** Titles hold tax identifiers and bank accounts. */
const OWNER_ONLY = 0o600;

/**
 * @returns the permissions for the file: those of the file that is replaced, otherwise read and
 * write for the owner alone
 * @throws InputError when the file exists and may not be replaced, or cannot be created
 */
export async function checkOutFile(out: OutFile): Promise<number> {
  const existing = await lstat(out.path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw cannotWrite(out, error);
  });
  if (existing !== null && !existing.isFile()) {
    throw new InputError(`--out ${out.path}: is not a regular file`);
  }
  if (existing !== null && !out.force) {
    throw new InputError(`--out ${out.path}: exists already; --force replaces it`);
  }
  await access(dirname(out.path), constants.W_OK).catch((error: unknown) => {
    throw cannotWrite(out, error);
  });
  return existing === null ? OWNER_ONLY : existing.mode & 0o777;
}

/**
 * Writes a file completely or not at all. The bytes go to a temporary file in the same folder,
 * which is renamed when all bytes are on the disk and removed after a failure.
 * @returns the file's size in bytes
 * @throws InputError when the file cannot be written
 * @throws ShutdownError when `signal` is aborted
 * @throws the errors of the source of the bytes
 */
export async function writeOutFile(
  out: OutFile,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const partial = join(
    dirname(out.path),
    `.conciliation-export-${randomBytes(6).toString('hex')}.partial`,
  );
  try {
    const size = await writeToDisk(partial, bytes, signal);
    // Checked a second time, because another program may have created the file meanwhile.
    const mode = await checkOutFile(out);
    await chmod(partial, mode);
    await rename(partial, out.path);
    return size;
  } catch (error) {
    await rm(partial, { force: true });
    throw toOutputError(out, error, signal);
  }
}

async function writeToDisk(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const file = await open(path, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(bytes, { signal });
    await file.sync();
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** Returns errors of the source unchanged. Other errors have a code of the operating system. */
function toOutputError(out: OutFile, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return new ShutdownError('the export was interrupted', { cause: error });
  if (error instanceof ConciliationError) return error;
  return errorCode(error) === null ? error : cannotWrite(out, error);
}

function cannotWrite({ path }: OutFile, error: unknown): InputError {
  return new InputError(`--out ${path}: cannot be written (${errorCode(error)})`, { cause: error });
}

/** Returns the operating system's name of the error, such as ENOSPC; null for other errors. */
function errorCode(error: unknown): string | null {
  const { code, syscall } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return syscall === undefined ? null : (code ?? null);
}
