import { randomBytes } from 'node:crypto';
import { access, chmod, constants, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
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
    throw cannotWrite(`--out ${out.path}`, error);
  });
  if (existing !== null && !existing.isFile()) {
    throw new InputError(`--out ${out.path}: is not a regular file`);
  }
  if (existing !== null && !out.force) {
    throw new InputError(`--out ${out.path}: exists already; --force replaces it`);
  }
  await access(dirname(out.path), constants.W_OK).catch((error: unknown) => {
    throw cannotWrite(`--out ${out.path}`, error);
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
    throw toOutputError(`--out ${out.path}`, error, signal);
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

/** Streams to standard output and leaves it open. Throws the errors of `writeOutFile`. */
export async function writeStandardOutput(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  let size = 0;
  const counted = async function* () {
    for await (const chunk of bytes) {
      size += chunk.length;
      yield chunk;
    }
  };
  try {
    await pipeline(counted(), process.stdout, { signal, end: false });
    return size;
  } catch (error) {
    throw toOutputError('standard output', error, signal);
  }
}

/** Returns errors of the source unchanged. Other errors have a code of the operating system. */
function toOutputError(name: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return new ShutdownError('the export was interrupted', { cause: error });
  if (error instanceof ConciliationError) return error;
  const code = errorCode(error);
  // The reader of a pipe, such as "| head", has closed it.
  if (code === 'EPIPE')
    return new ShutdownError(`${name} was closed before the end`, { cause: error });
  return code === null ? error : cannotWrite(name, error);
}

function cannotWrite(name: string, error: unknown): InputError {
  return new InputError(`${name}: cannot be written (${errorCode(error)})`, { cause: error });
}

/** Returns the operating system's name of the error, such as ENOSPC; null for other errors. */
function errorCode(error: unknown): string | null {
  const { code, syscall } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return syscall === undefined ? null : (code ?? null);
}
