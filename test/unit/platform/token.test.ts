import { chmod, mkdir, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
import { fileToken, fixedToken } from '../../../src/core/platform/token.ts';
import { forTest, openFolder } from '../../support/for-tests.ts';

const folder = forTest(openFolder);
let path: string;
beforeEach(() => {
  path = join(folder.path, 'token');
});

/** As an issuer of tokens should write it. */
const writeToken = (file: string, text: string | Uint8Array) =>
  writeFile(file, text, { mode: 0o600 });

const UNUSABLE = [
  ['nothing', '', 'is empty'],
  ['white space alone', ' \n\t\n', 'is empty'],
  ['a space inside', 'ey.J one', 'printable ASCII'],
  ['two lines', 'ey.J1\ney.J2', 'printable ASCII'],
  ['a control character', 'ey.J\u0007x', 'printable ASCII'],
  ['a letter beyond ASCII', 'ey.Jé', 'printable ASCII'],
  ['the scheme before it', 'Bearer ey.J', 'without the word Bearer'],
  ['the scheme alone', 'bearer', 'without the word Bearer'],
] as const;

describe('a token in a file', () => {
  test('is taken without the white space around it', async () => {
    await writeToken(path, ' \tey.J-one_~+/=\r\n\n');
    expect(await fileToken(path).current()).toBe('ey.J-one_~+/=');
  });

  test('is read again when another file of equal size and time replaces it', async () => {
    await writeToken(path, 'one');
    const token = fileToken(path);
    expect(await token.current()).toBe('one');
    const { atime, mtime } = await stat(path);
    await writeToken(`${path}.new`, 'two');
    await utimes(`${path}.new`, atime, mtime);
    await rename(`${path}.new`, path);
    expect(await token.current()).toBe('two');
  });

  test('is refused where the file is missing, and found once it is there', async () => {
    const token = fileToken(path);
    await expect(token.current()).rejects.toThrow(ConfigError);
    await expect(token.current()).rejects.toThrow(
      `PLATFORM_TOKEN_FILE: cannot read ${path} (ENOENT)`,
    );
    await writeToken(path, 'one');
    expect(await token.current()).toBe('one');
  });

  test('is refused where the file is far too large to be one', async () => {
    await writeToken(path, 'x'.repeat(65 * 1024));
    await expect(fileToken(path).current()).rejects.toThrow(
      `PLATFORM_TOKEN_FILE: ${path} is larger than any token`,
    );
  });

  test.each(UNUSABLE)('is refused with %s, without being shown', async (_, content, reason) => {
    await writeToken(path, content);
    const refusal = await fileToken(path)
      .current()
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    const { message } = refusal as ConfigError;
    expect(message).toContain(`PLATFORM_TOKEN_FILE: ${path}`);
    expect(message).toContain(reason);
    expect(message).not.toContain('ey.J');
  });
});

describe('a token in the environment', () => {
  test('is taken without the white space around it, and is always the same', async () => {
    const token = fixedToken(' ey.J \n');
    expect([await token.current(), await token.current()]).toEqual(['ey.J', 'ey.J']);
  });

  test.each(UNUSABLE)('is refused at once with %s, without being shown', (_, content, reason) => {
    expect(() => fixedToken(content)).toThrow(ConfigError);
    expect(() => fixedToken(content)).toThrow(/PLATFORM_TOKEN: /);
    expect(() => fixedToken(content)).toThrow(reason);
    expect(() => fixedToken(content)).not.toThrow('ey.J');
  });
});

describe.skipIf(process.platform === 'win32')('the mode of a token file', () => {
  const current = async (mode: number) => {
    await writeToken(path, 'ey.J');
    await chmod(path, mode);
    return fileToken(path).current();
  };

  test.each([0o600, 0o400, 0o640, 0o440])('%o is taken', async (mode) => {
    expect(await current(mode)).toBe('ey.J');
  });

  test.each([
    ...[0o660, 0o620, 0o602, 0o606, 0o666, 0o622].map((mode) => [
      mode,
      'written by others than its owner',
    ]),
    ...[0o644, 0o444, 0o604].map((mode) => [mode, 'read by everybody on this machine']),
  ] as [number, string][])('%o is refused, because it can be %s', async (mode, by) => {
    const fault = `PLATFORM_TOKEN_FILE: ${path} can be ${by}; run chmod 600 on it`;
    await expect(current(mode)).rejects.toThrow(fault);
  });

  test('as Kubernetes mounts a secret is taken, unless others can write it', async () => {
    const written = join(folder.path, '..2026_03_02_06_00_00.123456789');
    await mkdir(written);
    await writeFile(join(written, 'token'), 'ey.J');
    await chmod(join(written, 'token'), 0o644);
    await symlink('..2026_03_02_06_00_00.123456789', join(folder.path, '..data'));
    await symlink('..data/token', path);
    const token = fileToken(path);
    expect(await token.current()).toBe('ey.J');
    await chmod(join(written, 'token'), 0o666);
    await expect(token.current()).rejects.toThrow('can be written by others');
  });

  test('in a folder that merely ends like /run/secrets is refused', async () => {
    const lookalike = join(folder.path, 'run/secrets');
    await mkdir(lookalike, { recursive: true });
    await writeFile(join(lookalike, 'token'), 'ey.J');
    await chmod(join(lookalike, 'token'), 0o644);
    await expect(fileToken(join(lookalike, 'token')).current()).rejects.toThrow('everybody');
  });
});
