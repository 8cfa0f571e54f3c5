import { randomBytes } from 'node:crypto';
import { chmod, lstat, rename, rm, stat, writeFile } from 'node:fs/promises';
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
 * @throws InputError when the file exists and may not be replaced
 */
export async function checkOutFile({ path, force }: OutFile): Promise<number> {
  const existing = await lstat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw cannotWrite(`--out ${path}`, error);
  });
  if (existing === null) return OWNER_ONLY;
  if (!existing.isFile()) throw new InputError(`--out ${path}: is not a regular file`);
  if (!force) throw new InputError(`--out ${path}: exists already; --force replaces it`);
  return existing.mode & 0o777;
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
  const name = `.conciliation-export-${randomBytes(6).toString('hex')}.partial`;
  const partial = join(dirname(out.path), name);
  try {
    await writeFile(partial, bytes, { flag: 'wx', mode: OWNER_ONLY, flush: true, signal });
    // Checked a second time, because another program may have created the file meanwhile.
    await chmod(partial, await checkOutFile(out));
    await rename(partial, out.path);
    return (await stat(out.path)).size;
  } catch (error) {
    await rm(partial, { force: true });
    throw toOutputError(`--out ${out.path}`, error, signal);
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
