import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { openEmbeddedPostgres } from '../../../src/base/embedded/embedded-postgres.ts';
import { queryOnce } from '../../support/client.ts';
import { logger } from '../../support/logger.ts';
import { dataFolderTest as test } from './data-folder-test.ts';
import { readServerPid } from './opening-process.ts';

describe('opening', () => {
  test('creates a UTF-8 database that sorts by code point, in UTC, on the loopback only, and keeps it from other users', async ({
    newDir: dataDir,
  }) => {
    const database = await openEmbeddedPostgres({ dataDir, logger });
    expect(new URL(database.url).pathname).toBe('/conciliation');
    const [settings] = await queryOnce(
      database.url,
      `SELECT current_setting('server_encoding') AS encoding,
              current_setting('TimeZone') AS timezone,
              current_setting('listen_addresses') AS addresses,
              current_setting('unix_socket_directories') AS sockets,
              current_setting('fsync') AS fsync,
              'Z' < 'a' AS by_code_point,
              upper('ação') AS upper`,
    );
    const wrong = new URL(database.url);
    wrong.password = 'wrong';
    await expect(queryOnce(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await database.close();
    expect(settings).toEqual({
      encoding: 'UTF8',
      timezone: 'UTC',
      addresses: '127.0.0.1',
      sockets: '',
      fsync: 'on',
      by_code_point: true,
      upper: 'AÇÃO',
    });
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
    expect(await modeOf(dataDir)).toBe(0o700);
    expect(await modeOf(join(dataDir, 'postgres'))).toBe(0o700);
    expect(await modeOf(join(dataDir, 'postgres', 'postgres.json'))).toBe(0o600);
    expect(await modeOf(join(dataDir, 'postgres.log'))).toBe(0o600);
  });

  test('names the remedy when the password file is lost or wrong', async ({ dataDir }) => {
    await (await openEmbeddedPostgres({ dataDir, logger })).close();
    const passwordFile = join(dataDir, 'postgres', 'postgres.json');
    const credentials = JSON.parse(await readFile(passwordFile, 'utf8'));

    await writeFile(passwordFile, JSON.stringify({ ...credentials, password: 'wrong' }));
    await expect(openEmbeddedPostgres({ dataDir, logger })).rejects.toThrow(/refuses the password/);

    await writeFile(passwordFile, JSON.stringify(credentials));
    await (await openEmbeddedPostgres({ dataDir, logger })).close();
    expect(await readServerPid(dataDir)).toBeNull();

    await writeFile(passwordFile, '{"password":"secret');
    const damaged = openEmbeddedPostgres({ dataDir, logger });
    await expect(damaged).rejects.toThrow(/postgres\.json is damaged.*restore it from a backup/);
    await expect(damaged).rejects.not.toThrow(/secret/);
    await rm(passwordFile);
    await expect(openEmbeddedPostgres({ dataDir, logger })).rejects.toThrow(
      /DATA_DIR.*ENOENT.*postgres\.json.*restore it from a backup/,
    );
  });
});

describe.runIf(process.getuid?.() === 0)('under root', () => {
  test('the server runs as another user, who owns the files', async ({ parentDir }) => {
    const database = await openEmbeddedPostgres({ dataDir: parentDir, logger });
    const { uid } = await stat(join(parentDir, 'postgres'));
    const server = await stat(`/proc/${await readServerPid(parentDir)}`);
    await database.close();
    expect(uid).not.toBe(0);
    expect(server.uid).toBe(uid);
  });
});
