import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import createApiClient from 'openapi-fetch';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../../../src/console/access/api-keys.sql.ts';
import { type ConsoleWorld, openConsole } from '../../support/console-client.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

import type { paths } from './api-types.ts';

const REDOCLY = 'node_modules/@redocly/cli/bin/cli.js';

let world: PullWorld;
let console: ConsoleWorld;
let document: string;
beforeAll(async () => {
  world = await openPullWorld();
  console = await openConsole(world.database);
  document = (await (await console.as('viewer')).get('/api/openapi.json')).text;
});
afterAll(async () => {
  await console.close();
  await world.close();
});

/** Runs the linter without telemetry and without the search for updates. */
async function lint(file: string, text: string) {
  await writeFile(file, text);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [REDOCLY, 'lint', file, '--extends', 'recommended', '--format', 'json'],
    {
      env: {
        ...process.env,
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      },
    },
    // With problems, the status is 1, and the output is the same.
  ).catch((failed: { stdout: string }) => failed);
  return JSON.parse(stdout) as {
    totals: { errors: number; warnings: number; ignored: number };
    problems: { ruleId: string; message: string; location: { pointer: string }[] }[];
  };
}

test('the recommended rules for OpenAPI documents find nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  try {
    const file = join(folder, 'openapi.json');
    const { totals, problems } = await lint(file, document);
    expect(
      problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    ).toEqual([]);
    expect(totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 });
    // The rules do find what is missing.
    const without = await lint(file, document.replaceAll('"operationId"', '"x-operation"'));
    expect(without.totals.warnings).toBeGreaterThan(20);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the types of a client are those of the document', async () => {
  const types = astToString(await openapiTS(document, { alphabetize: true }));
  await expect(types).toMatchFileSnapshot('./api-types.ts');
});

test('a client that was generated from the document asks for a backfill', async () => {
  world.sandbox.setDayTexts(DAY, [titleText({ uid: 'a' })]);
  await world.pull(DAY);
  const key = await createApiKey(world.database, {
    name: 'ERP',
    user: null,
    role: 'operator',
    scopes: ['read', 'pull'],
    validDays: 1,
    by: 'test',
  });
  const api = createApiClient<paths>({
    baseUrl: console.url,
    headers: { authorization: `Bearer ${key}` },
  });
  const { data: day } = await api.GET('/api/days/{date}', { params: { path: { date: DAY } } });
  expect(day).toMatchObject({ date: DAY, state: 'reconciled', titles: 1, signedOffBy: null });

  const reversed = await api.POST('/api/backfills', { body: { from: DAY, to: '2020-01-01' } });
  expect(reversed.response.status).toBe(400);
  expect(reversed.error?.code).toBe('INPUT_INVALID');

  const started = await api.POST('/api/backfills', { body: { from: DAY, to: DAY } });
  expect(started.response.status).toBe(201);
  expect(started.data).toMatchObject({ from: DAY, to: DAY });

  // @ts-expect-error The compiler refuses a range without its end.
  const refused = await api.POST('/api/backfills', { body: { from: DAY } });
  expect(refused.response.status).toBe(400);
  // @ts-expect-error The compiler refuses a path that the document does not have.
  expect((await api.GET('/api/day')).response.status).toBe(404);
});
