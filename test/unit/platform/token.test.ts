import { mkdtemp, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { fileToken, fixedToken } from '../../../src/platform/token.ts';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'token-'));
  path = join(directory, 'token');
});

afterEach(() => rm(directory, { recursive: true }));

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
    await writeFile(path, ' \tey.J-one_~+/=\r\n\n');
    expect(await fileToken(path).current()).toBe('ey.J-one_~+/=');
  });

  test('is taken anew when the file is written again', async () => {
    await writeFile(path, 'one');
    const token = fileToken(path);
    expect(await token.current()).toBe('one');
    await writeFile(path, 'other');
    expect(await token.current()).toBe('other');
  });

  test('is taken anew when another file of equal size and time takes the place', async () => {
    await writeFile(path, 'one');
    const token = fileToken(path);
    expect(await token.current()).toBe('one');
    const { atime, mtime } = await stat(path);
    await writeFile(`${path}.new`, 'two');
    await utimes(`${path}.new`, atime, mtime);
    await rename(`${path}.new`, path);
    expect(await token.current()).toBe('two');
  });

  test('is what the file holds now after reread', async () => {
    await writeFile(path, 'one');
    const token = fileToken(path);
    await token.current();
    await writeFile(path, 'two');
    expect(await token.reread()).toBe('two');
    expect(await token.current()).toBe('two');
  });

  test('is refused where the file is missing, and found once it is there', async () => {
    const token = fileToken(path);
    for (const read of [() => token.current(), () => token.reread()]) {
      await expect(read()).rejects.toThrow(ConfigError);
      await expect(read()).rejects.toThrow(`PLATFORM_TOKEN_FILE: cannot read ${path} (ENOENT)`);
    }
    await writeFile(path, 'one');
    expect(await token.current()).toBe('one');
  });

  test('is refused where the path is a directory', async () => {
    await expect(fileToken(directory).current()).rejects.toThrow(
      `PLATFORM_TOKEN_FILE: cannot read ${directory} (EISDIR)`,
    );
  });

  test('is refused where the file is far too large to be one', async () => {
    await writeFile(path, 'x'.repeat(65 * 1024));
    await expect(fileToken(path).current()).rejects.toThrow(
      `PLATFORM_TOKEN_FILE: ${path} is larger than any token`,
    );
  });

  test.each(UNUSABLE)('is refused with %s, without being shown', async (_, content, reason) => {
    await writeFile(path, content);
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
    expect([await token.current(), await token.reread()]).toEqual(['ey.J', 'ey.J']);
  });

  test.each(UNUSABLE)('is refused at once with %s, without being shown', (_, content, reason) => {
    expect(() => fixedToken(content)).toThrow(ConfigError);
    expect(() => fixedToken(content)).toThrow(/PLATFORM_TOKEN: /);
    expect(() => fixedToken(content)).toThrow(reason);
    expect(() => fixedToken(content)).not.toThrow('ey.J');
  });
});
