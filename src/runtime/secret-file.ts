import { readFile, realpath, stat } from 'node:fs/promises';
import type { ConfigError } from './errors.ts';

/** Where a secret comes from. Both calls throw the error of the source where there is no usable secret. */
export interface SecretSource<Secret> {
  current(): Promise<Secret>;
  /** Reads the source again, also where nothing shows that the source has changed. */
  reread(): Promise<Secret>;
}

export interface SecretFileOptions<Secret> {
  /** The variable that names the file, for messages. */
  readonly variable: string;
  readonly path: string;
  /** @param source the variable and the file, for messages. @throws ConfigError */
  readonly parse: (text: string, source: string) => Secret;
  /** The error of a file that cannot be used. */
  readonly Unusable: new (
    problems: readonly string[],
  ) => ConfigError;
}

/** No JWT comes near this; a wrong path such as a log file must not be read whole. */
const MAX_SECRET_BYTES = 64 * 1024;

const OTHERS_WRITE = 0o022;
const EVERYBODY_READS = 0o004;

/**
 * Where container engines mount secrets, inside of a container that has one user: Docker under
 * /run/secrets with mode 0444 or that of the file outside, Kubernetes with mode 0644 in a folder named
 * after the time at which the secret was written.
 */
const SECRET_MOUNT = /^(?:\/var)?\/run\/secrets\/|\/\.\.\d{4}_\d\d_\d\d_/;

/**
 * The secret in a file, which may be replaced at any time. Each use looks at the file's times, size and
 * inode, and reads the file only when one of them has changed.
 */
export function fileSecret<Secret>(options: SecretFileOptions<Secret>): SecretSource<Secret> {
  const { variable, path, parse, Unusable } = options;
  let known: { readonly version: string; readonly secret: Secret } | null = null;

  async function read(version: string): Promise<Secret> {
    const secret = parse(await reach(() => readFile(path, 'utf8')), `${variable}: ${path}`);
    known = { version, secret };
    return secret;
  }

  async function fileVersion(): Promise<string> {
    const { dev, ino, size, mode, mtimeNs, ctimeNs } = await reach(() =>
      stat(path, { bigint: true }),
    );
    if (size > MAX_SECRET_BYTES) refuse(`${path} is larger than any token or secret`);
    if (process.platform !== 'win32') await refuseOpenFile(Number(mode));
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  }

  /**
   * A user who can write the file can replace the secret, and a user who can read the file has the secret.
   * The group of the file may read it, as with the secrets of a container that runs as a group.
   */
  async function refuseOpenFile(mode: number): Promise<void> {
    if ((mode & OTHERS_WRITE) !== 0) {
      refuse(`${path} can be written by others than its owner; run chmod 600 on it`);
    }
    if ((mode & EVERYBODY_READS) === 0) return;
    if (SECRET_MOUNT.test(await reach(() => realpath(path)))) return;
    refuse(`${path} can be read by everybody on this machine; run chmod 600 on it`);
  }

  async function reach<T>(access: () => Promise<T>): Promise<T> {
    try {
      return await access();
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      return refuse(`cannot read ${path} (${String(error.code)})`);
    }
  }

  function refuse(problem: string): never {
    throw new Unusable([`${variable}: ${problem}`]);
  }

  return {
    async current() {
      const version = await fileVersion();
      return known?.version === version ? known.secret : read(version);
    },
    // The version is taken before the content: a file that is replaced in between is read again at
    // the next use, never taken for the newer one.
    async reread() {
      return read(await fileVersion());
    },
  };
}
