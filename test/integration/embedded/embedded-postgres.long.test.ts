import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { test as baseTest, describe, expect } from 'vitest';
import { openEmbeddedPostgres } from '../../../src/base/embedded/embedded-postgres.ts';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
import { queryOnce } from '../../support/client.ts';
import { logger } from '../../support/logger.ts';

const run = promisify(execFile);
const open = (dataDir: string) => openEmbeddedPostgres({ dataDir, logger });

/** The processes that a test has started. */
const running = new Set<ChildProcess>();

/** A separate process that opens, or fails to open, the embedded database of `dataDir`. */
async function openInProcess(options: { dataDir: string }) {
  const script = join(import.meta.dirname, 'opening-process.mjs');
  const child = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // A separate process group, so that a test can interrupt the group as a terminal does.
    detached: true,
  });
  running.add(child);
  const exited = once(child, 'exit');
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextAnswer = async (): Promise<Readonly<Record<string, unknown>>> => {
    const { value, done } = await answers.next();
    if (done) throw new Error('the opening process ended without an answer');
    return JSON.parse(value);
  };
  const opened = await nextAnswer();
  return {
    pid: child.pid ?? 0,
    /** The answer of the process to the opening: `{ url }`, or `{ error, message }`. */
    opened,
    nextAnswer,
    /** Closes the database in an orderly way and ends. */
    async close() {
      child.stdin.end();
      await exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** The server's pid, by PostgreSQL's lock file; null when it has stopped in an orderly way. */
async function readServerPid(dataDir: string): Promise<number | null> {
  try {
    const lockFile = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
    return Number(lockFile.split('\n')[0]);
  } catch {
    return null;
  }
}

async function requireServerPid(dataDir: string): Promise<number> {
  const serverPid = await readServerPid(dataDir);
  if (serverPid === null) throw new Error('no server is running');
  return serverPid;
}

/** Whether the server lives; a zombie, which waits to be reaped by its new parent, does not. */
async function isServerRunning(serverPid: number): Promise<boolean> {
  try {
    const { stdout } = await run('ps', ['-o', 'stat=', '-p', String(serverPid)]);
    return !stdout.startsWith('Z');
  } catch {
    return false;
  }
}

async function killServer(serverPid: number): Promise<void> {
  process.kill(serverPid, 'SIGKILL');
  while (await isServerRunning(serverPid)) await sleep(10);
}

interface DataFolder {
  /** A new, empty folder. */
  readonly parentDir: string;
  /** A folder in it with a database whose server has stopped. */
  readonly dataDir: string;
  /** A folder in it that does not exist yet. */
  readonly newDir: string;
}

let template: Promise<string> | undefined;

/** To make a database takes seconds, and to copy one does not. */
async function createTemplate(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-embedded-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'data');
  await (await open(dataDir)).close();
  return dataDir;
}

/** A test with a separate data folder. Processes that still use the folder afterwards are killed. */
const test = baseTest.extend<DataFolder>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the parameter's pattern
  parentDir: async ({}, use) => {
    const parentDir = await mkdtemp(join(tmpdir(), 'conciliation-embedded-'));
    await use(parentDir);
    for (const child of running) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    running.clear();
    for (const dataDir of [parentDir, join(parentDir, 'data'), join(parentDir, 'new')]) {
      const serverPid = await readServerPid(dataDir);
      if (serverPid !== null && (await isServerRunning(serverPid))) await killServer(serverPid);
    }
    await rm(parentDir, { recursive: true, force: true, maxRetries: 5 });
  },
  dataDir: async ({ parentDir }, use) => {
    template ??= createTemplate();
    const dataDir = join(parentDir, 'data');
    execFileSync('cp', ['-a', await template, dataDir]);
    await use(dataDir);
  },
  newDir: async ({ parentDir }, use) => {
    await use(join(parentDir, 'new'));
  },
});

describe('opening', () => {
  test('creates a UTF-8 database that sorts by code point, in UTC, on the loopback only, and keeps it from other users', async ({
    newDir: dataDir,
  }) => {
    const database = await open(dataDir);
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
    await (await open(dataDir)).close();
    const passwordFile = join(dataDir, 'postgres', 'postgres.json');
    const credentials = JSON.parse(await readFile(passwordFile, 'utf8'));

    await writeFile(passwordFile, JSON.stringify({ ...credentials, password: 'wrong' }));
    await expect(open(dataDir)).rejects.toThrow(/refuses the password/);

    await writeFile(passwordFile, JSON.stringify(credentials));
    await (await open(dataDir)).close();
    expect(await readServerPid(dataDir)).toBeNull();

    await writeFile(passwordFile, '{"password":"secret');
    const damaged = open(dataDir);
    await expect(damaged).rejects.toThrow(/postgres\.json is damaged.*restore it from a backup/);
    await expect(damaged).rejects.not.toThrow(/secret/);
    await rm(passwordFile);
    await expect(open(dataDir)).rejects.toThrow(
      /DATA_DIR.*ENOENT.*postgres\.json.*restore it from a backup/,
    );
  });
});

describe.runIf(process.getuid?.() === 0)('under root', () => {
  test('the server runs as another user, who owns the files', async ({ parentDir }) => {
    const database = await open(parentDir);
    const { uid } = await stat(join(parentDir, 'postgres'));
    const server = await stat(`/proc/${await readServerPid(parentDir)}`);
    await database.close();
    expect(uid).not.toBe(0);
    expect(server.uid).toBe(uid);
  });
});

describe('sharing', () => {
  test('a server to which another client is connected stays, and the next process stops it', async ({
    dataDir,
  }) => {
    const first = await open(dataDir);
    const serverPid = await requireServerPid(dataDir);
    const client = new Client({ connectionString: first.url });
    await client.connect();
    await Promise.all([first.close(), first.close()]);
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await client.end();

    const second = await open(dataDir);
    expect(await requireServerPid(dataDir)).toBe(serverPid);
    await second.close();
    expect(await readServerPid(dataDir)).toBeNull();
  });
});

describe('failure', () => {
  test('a killed process leaves the server running, and the next one joins it', async ({
    dataDir,
  }) => {
    const service = await openInProcess({ dataDir });
    const url = String(service.opened['url']);
    await queryOnce(url, 'CREATE TABLE title AS SELECT 7 AS id');
    const serverPid = await requireServerPid(dataDir);
    await service.kill();
    expect(await isServerRunning(serverPid)).toBe(true);

    const successor = await openInProcess({ dataDir });
    expect(successor.opened['url']).toBe(url);
    expect(await readServerPid(dataDir)).toBe(serverPid);
    expect(await queryOnce(url, 'SELECT id FROM title')).toEqual([{ id: 7 }]);
    await successor.close();
    await expect.poll(() => isServerRunning(serverPid)).toBe(false);
  });

  test('a server that dies under its holder is started on the same address by the next process', async ({
    dataDir,
  }) => {
    const database = await open(dataDir);
    await queryOnce(database.url, 'CREATE TABLE title AS SELECT 7 AS id');
    await killServer(await requireServerPid(dataDir));

    const next = await open(dataDir);
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
    const database = await open(dataDir);
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
  running.add(program);
  await once(program, 'spawn');
  return program.pid ?? 0;
}

async function expectOpens(dataDir: string): Promise<void> {
  const database = await open(dataDir);
  expect(await queryOnce(database.url, 'SELECT id FROM title')).toEqual([{ id: 7 }]);
  await database.close();
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
    const other = await open(otherDir);
    for (const number of [await startProgram(dataDir), await requireServerPid(otherDir)]) {
      await reuseNumber(dataDir, number);
      await expect(open(dataDir)).rejects.toThrow(REFUSED);
    }
    expect(await queryOnce(other.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await other.close();
    await writeFile(lockFileOf(dataDir), '');
    await expect(open(dataDir)).rejects.toThrow(
      /PID file .* is empty; end the processes that use .*, or, if there are none, delete postmaster\.pid there/,
    );
    await rm(lockFileOf(dataDir));
    await expectOpens(dataDir);
  });

  test('a folder that was copied under its running server is refused, and the server goes on', async ({
    parentDir,
    dataDir,
  }) => {
    const original = await open(dataDir);
    await queryOnce(original.url, 'CREATE TABLE title (id int)');
    const copyDir = join(parentDir, 'copy');
    await cp(dataDir, copyDir, { recursive: true });
    await expect(open(copyDir)).rejects.toThrow(
      new RegExp(`is a copy of ${dataDir}/postgres, made while .* ran, .* remove the copy`),
    );
    expect(await queryOnce(original.url, 'SELECT count(*)::int FROM title')).toEqual([
      { count: 0 },
    ]);
    await original.close();
  });
});

test('a folder of another major version is refused', async ({ dataDir }) => {
  const versionFile = join(dataDir, 'postgres', 'PG_VERSION');
  const version = await readFile(versionFile, 'utf8');
  await writeFile(versionFile, '16\n');
  const error = await open(dataDir).catch((refusal: unknown) => refusal);
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toMatch(
    new RegExp(
      `DATA_DIR \\(${dataDir}\\) holds a database of PostgreSQL 16, .* ${version.trim()} cannot read`,
    ),
  );
});
