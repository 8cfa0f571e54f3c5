/** The embedded database with a lock file and a folder that a crash or an upgrade left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { openEmbeddedPostgres } from '../../../src/base/embedded/embedded-postgres.ts';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
import { queryOnce } from '../../support/client.ts';
import { logger } from '../../support/logger.ts';
import { dataFolderTest as test } from './data-folder-test.ts';
import { killServer, openInProcess, requireServerPid } from './opening-process.ts';

const programs: ChildProcess[] = [];
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.kill('SIGKILL');
    if (program.exitCode === null && program.signalCode === null) await once(program, 'exit');
  }
});

const lockFileOf = (dataDir: string) => join(dataDir, 'postgres', 'postmaster.pid');

/** Leaves the folder as a crash of the server does, with one row in it. */
async function crash(dataDir: string): Promise<void> {
  const service = await openInProcess({ dataDir });
  await queryOnce(String(service.opened['url']), 'CREATE TABLE title AS SELECT 7 AS id');
  const serverPid = await requireServerPid(dataDir);
  await service.kill();
  await killServer(serverPid);
}

/** Gives the number of the crashed server to another process. */
async function reuseNumber(dataDir: string, pid: number): Promise<void> {
  const [, ...rest] = (await readFile(lockFileOf(dataDir), 'utf8')).split('\n');
  await writeFile(lockFileOf(dataDir), [pid, ...rest].join('\n'));
}

/** Another program that runs as the user of the server. */
async function startProgram(dataDir: string): Promise<number> {
  const { uid, gid } = await stat(join(dataDir, 'postgres'));
  const isRoot = process.getuid?.() === 0;
  const program = spawn('sleep', ['600'], { stdio: 'ignore', ...(isRoot && { uid, gid }) });
  programs.push(program);
  await once(program, 'spawn');
  return program.pid ?? 0;
}

async function expectOpens(dataDir: string): Promise<void> {
  await expect(readTitles(dataDir)).resolves.toEqual([{ id: 7 }]);
}

async function readTitles(dataDir: string): Promise<unknown[]> {
  const database = await openEmbeddedPostgres({ dataDir, logger });
  try {
    return await queryOnce(database.url, 'SELECT id FROM title');
  } finally {
    await database.close();
  }
}

/** The file stays until a person has looked, because the process might be a server of the folder. */
const REFUSED =
  /lock file .*; end the processes that use .*, or, if there are none, delete postmaster\.pid there/;

describe('a lock file that a crash left does not keep the server from starting', () => {
  test('where its process is dead, or its number belongs to the first process of the container, or to this one', async ({
    dataDir,
  }) => {
    await crash(dataDir);
    const lockFile = await readFile(lockFileOf(dataDir));
    await expectOpens(dataDir);
    for (const number of [1, process.pid]) {
      await writeFile(lockFileOf(dataDir), lockFile);
      await reuseNumber(dataDir, number);
      await expectOpens(dataDir);
    }
  });

  test('and three processes at once share the server that one of them starts', async ({
    dataDir,
  }) => {
    await crash(dataDir);
    const processes = await Promise.all([1, 2, 3].map(() => openInProcess({ dataDir })));
    const urls = new Set(processes.map(({ opened }) => opened['url']));
    expect([...urls]).toEqual([expect.stringMatching(/^postgres:/)]);
    await Promise.all(processes.map((process) => process.close()));
  });
});

describe('lock files that keep the server from starting', () => {
  test('an empty one, or one with the number of another program or server, is named with the remedy, and the other is left alone', async ({
    parentDir,
    dataDir,
  }) => {
    await crash(dataDir);
    const otherDir = join(parentDir, 'other');
    const other = await openEmbeddedPostgres({ dataDir: otherDir, logger });
    for (const number of [await startProgram(dataDir), await requireServerPid(otherDir)]) {
      await reuseNumber(dataDir, number);
      await expect(openEmbeddedPostgres({ dataDir, logger })).rejects.toThrow(REFUSED);
    }
    expect(await queryOnce(other.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await other.close();
    await writeFile(lockFileOf(dataDir), '');
    await expect(openEmbeddedPostgres({ dataDir, logger })).rejects.toThrow(
      /PID file .* is empty; end the processes that use .*, or, if there are none, delete postmaster\.pid there/,
    );
    await rm(lockFileOf(dataDir));
    await expectOpens(dataDir);
  });

  test('a folder that was copied under its running server is refused, and the server goes on', async ({
    parentDir,
    dataDir,
  }) => {
    const original = await openEmbeddedPostgres({ dataDir, logger });
    await queryOnce(original.url, 'CREATE TABLE title (id int)');
    const copyDir = join(parentDir, 'copy');
    await cp(dataDir, copyDir, { recursive: true });
    await expect(openEmbeddedPostgres({ dataDir: copyDir, logger })).rejects.toThrow(
      new RegExp(`is a copy of ${dataDir}/postgres, made while .* ran, .* remove the copy`),
    );
    expect(await queryOnce(original.url, 'SELECT count(*)::int FROM title')).toEqual([
      { count: 0 },
    ]);
    await original.close();
  });
});

test('a folder of another major version is refused with the steps that bring it over', async ({
  dataDir,
}) => {
  const versionFile = join(dataDir, 'postgres', 'PG_VERSION');
  const version = await readFile(versionFile, 'utf8');
  await writeFile(versionFile, '16\n');
  const opening = openEmbeddedPostgres({ dataDir, logger });
  const error = await opening.then(
    (database) => database.close(),
    (refusal: unknown) => refusal,
  );
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toMatch(
    new RegExp(
      `DATA_DIR \\(${dataDir}\\) holds a database of PostgreSQL 16, .* ${version.trim()} cannot read.*` +
        `1\\. .*used before.*pg_dump.*2\\. .*move the folder ${dataDir}/postgres away.*` +
        '3\\. Start this version.*4\\. .*pg_restore',
      's',
    ),
  );
});
