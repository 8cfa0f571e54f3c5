import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect } from 'vitest';
import { openEmbeddedPostgres } from '../../../src/base/embedded/embedded-postgres.ts';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
import { queryOnce } from '../../support/client.ts';
import { logger } from '../../support/logger.ts';
import { dataFolderTest as test } from './data-folder-test.ts';
import {
  isServerRunning,
  killServer,
  openInProcess,
  readServerPid,
  requireServerPid,
} from './opening-process.ts';

describe('sharing', () => {
  test('a server to which another client is connected stays, and the next process stops it', async ({
    dataDir,
  }) => {
    const first = await openEmbeddedPostgres({ dataDir, logger });
    const serverPid = await requireServerPid(dataDir);
    const client = new Client({ connectionString: first.url });
    await client.connect();
    await Promise.all([first.close(), first.close()]);
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await client.end();

    const second = await openEmbeddedPostgres({ dataDir, logger });
    expect(await requireServerPid(dataDir)).toBe(serverPid);
    await second.close();
    expect(await readServerPid(dataDir)).toBeNull();
  });

  test('a second exclusive open fails at once and names the folder and the holder', async ({
    dataDir,
  }) => {
    const service = await openInProcess({ dataDir, exclusive: true });
    const rival = await openInProcess({ dataDir, exclusive: true });
    expect(rival.opened['error']).toBe(ConfigError.name);
    expect(rival.opened['message']).toContain(`DATA_DIR (${dataDir})`);
    expect(rival.opened['message']).toContain(`pid ${service.pid}`);

    const command = await openInProcess({ dataDir });
    expect(command.opened['url']).toBe(service.opened['url']);
    await command.close();
    await service.close();

    const successor = await openInProcess({ dataDir, exclusive: true });
    expect(successor.opened['url']).toBeDefined();
    await successor.close();
  });
});

describe('failure', () => {
  test('a killed process leaves the server running, and the next one joins it', async ({
    dataDir,
  }) => {
    const service = await openInProcess({ dataDir, exclusive: true });
    const url = String(service.opened['url']);
    await queryOnce(url, 'CREATE TABLE title AS SELECT 7 AS id');
    const serverPid = await requireServerPid(dataDir);
    await service.kill();
    expect(await isServerRunning(serverPid)).toBe(true);

    const successor = await openInProcess({ dataDir, exclusive: true });
    expect(successor.opened['url']).toBe(url);
    expect(await readServerPid(dataDir)).toBe(serverPid);
    expect(await queryOnce(url, 'SELECT id FROM title')).toEqual([{ id: 7 }]);
    await successor.close();
    await expect.poll(() => isServerRunning(serverPid)).toBe(false);
  });

  test('a server that dies under its holder is started on the same address by the next process', async ({
    dataDir,
  }) => {
    const database = await openEmbeddedPostgres({ dataDir, logger });
    await queryOnce(database.url, 'CREATE TABLE title AS SELECT 7 AS id');
    await killServer(await requireServerPid(dataDir));

    const next = await openEmbeddedPostgres({ dataDir, logger });
    expect(next.url).toBe(database.url);
    expect(await queryOnce(database.url, 'SELECT id FROM title')).toEqual([{ id: 7 }]);
    await database.close();
    expect(await queryOnce(next.url, 'SELECT id FROM title')).toEqual([{ id: 7 }]);
    await next.close();
    expect(await readServerPid(dataDir)).toBeNull();
  });

  test('a Ctrl-C that reaches the process group does not reach the server', async ({ dataDir }) => {
    const service = await openInProcess({ dataDir });
    process.kill(-service.pid, 'SIGINT');
    expect(await service.nextAnswer()).toEqual({ interrupted: true });
    expect(await queryOnce(String(service.opened['url']), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await service.close();
    expect(await readServerPid(dataDir)).toBeNull();
  });

  test('the log holds neither statements nor values', async ({ dataDir }) => {
    const database = await openEmbeddedPostgres({ dataDir, logger });
    await queryOnce(database.url, 'CREATE TABLE provider (tax_id text PRIMARY KEY)');
    const insert = "INSERT INTO provider VALUES ('52998224725')";
    await queryOnce(database.url, insert);
    await expect(queryOnce(database.url, insert)).rejects.toMatchObject({ code: '23505' });
    await expect(queryOnce(database.url, "SELECT 'x52998224725'::int")).rejects.toMatchObject({
      code: '22P02',
    });
    await database.close();
    const log = await readFile(join(dataDir, 'postgres.log'), 'utf8');
    expect(log).toContain('database system is ready');
    expect(log).not.toContain('52998224725');
    expect(log).not.toContain('provider');
  });
});
