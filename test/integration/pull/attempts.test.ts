import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createPlatformClient } from '../../../src/platform/conciliation-client.ts';
import { fileToken } from '../../../src/platform/token.ts';
import { TokenUnusableError } from '../../../src/runtime/errors.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';

const world = worldOfFile();

async function attemptAnswered(status: number, attempts = 3) {
  world.sandbox.faults.add({ kind: 'status', status });
  const { pullId, kind } = await world.attempt(DAY, {
    retry: { attempts, backoffSeconds: 1 },
  });
  world.sandbox.faults.clear();
  const pull = await world.database.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
  return { kind, state: pull.state, attempts: pull.attempts };
}

test('an answer that may be better next time spends an attempt, and the pull waits for the next', async () => {
  expect(await attemptAnswered(500)).toEqual({ kind: 'retry', state: 'queued', attempts: 1 });
});

test('the last attempt is the last', async () => {
  expect(await attemptAnswered(500, 1)).toEqual({ kind: 'failed', state: 'failed', attempts: 1 });
});

test('a refused token spends none: it is no fault of the pull', async () => {
  expect(await attemptAnswered(401)).toEqual({
    kind: 'unauthorized',
    state: 'queued',
    attempts: 0,
  });
});

test('a token that cannot be read spends none, before the request and after a refusal', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-token-'));
  const file = join(folder, 'token');
  const refusing = createServer((_request, response) => {
    rmSync(file);
    response.writeHead(401).end();
  });
  await once(refusing.listen(0, '127.0.0.1'), 'listening');
  const { port } = refusing.address() as AddressInfo;
  const platform = createPlatformClient({
    baseUrl: new URL(`http://127.0.0.1:${port}`),
    token: fileToken(file),
    concurrency: 1,
    timeoutMs: 10_000,
    userAgent: 'test',
  });
  try {
    for (const prepare of [() => {}, () => writeFile(file, 'token', { mode: 0o600 })]) {
      await prepare();
      const { pullId, ...outcome } = await world.attempt(DAY, { platform });
      expect(outcome).toMatchObject({
        kind: 'unauthorized',
        error: { name: TokenUnusableError.name },
      });
      const pull = await world.database.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
      expect(pull).toMatchObject({ state: 'queued', attempts: 0 });
    }
  } finally {
    await platform.close();
    refusing.close();
    await rm(folder, { recursive: true });
  }
});

test('a refused request is not repeated', async () => {
  expect(await attemptAnswered(400)).toEqual({ kind: 'failed', state: 'failed', attempts: 1 });
});
