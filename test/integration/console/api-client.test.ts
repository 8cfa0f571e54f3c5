import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import { beforeAll, expect, test } from 'vitest';
import { makeKey } from '../../support/console-client.ts';
import { forTest, openFolder } from '../../support/for-tests.ts';
import { pagesForFile } from '../../support/pages-world.ts';
import { DAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const REDOCLY = 'node_modules/@redocly/cli/bin/cli.js';
const TSC = join(process.cwd(), 'node_modules/typescript/bin/tsc');

const { world, console, viewer } = pagesForFile();
const folder = forTest(openFolder);
let document: string;
beforeAll(async () => {
  document = (await viewer.get('/api/openapi.json')).text;
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
  const file = join(folder.path, 'openapi.json');
  const { totals, problems } = await lint(file, document);
  expect(
    problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
  ).toEqual([]);
  expect(totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 });
  // The rules do find what is missing.
  const without = await lint(file, document.replaceAll('"operationId"', '"x-operation"'));
  expect(without.totals.warnings).toBeGreaterThan(20);
});

/** Asks with the types that were generated from the document, and prints the answers. */
const CLIENT = `
import createApiClient from 'openapi-fetch';
import type { paths } from './api-types.ts';

const [baseUrl = '', key = '', date = ''] = process.argv.slice(2);
const api = createApiClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + key } });

const { data: day } = await api.GET('/api/days/{date}', { params: { path: { date } } });
const titles: number | null | undefined = day?.titles;
const reversed = await api.POST('/api/backfills', { body: { from: date, to: '2020-01-01' } });
const code: string | undefined = reversed.error?.code;
const started = await api.POST('/api/backfills', { body: { from: date, to: date } });
// @ts-expect-error The compiler refuses a range without its end.
const refused = await api.POST('/api/backfills', { body: { from: date } });
// @ts-expect-error The compiler refuses a path that the document does not have.
const missing = await api.GET('/api/day');
// @ts-expect-error The compiler refuses a field that a day does not have.
void day?.weather;
const statuses = [reversed, started, refused, missing].map(({ response }) => response.status);
console.log(JSON.stringify({ day, titles, code, started: started.data, statuses }));
`;

test('a client with types that are generated from the document asks for a backfill', async () => {
  await world.serve(DAY, [titleText({ uid: 'a' })]);
  const key = await makeKey(world.database, 'operator', ['read', 'pull']);
  const node = async (...args: readonly string[]) =>
    // With an error of the compiler, the status is 1, and standard output names the error.
    promisify(execFile)(process.execPath, args, { cwd: folder.path }).catch((failed) => failed);
  await symlink(join(process.cwd(), 'node_modules'), join(folder.path, 'node_modules'));
  const types = astToString(await openapiTS(document, { alphabetize: true }));
  await writeFile(join(folder.path, 'api-types.ts'), types);
  await writeFile(join(folder.path, 'client.mts'), CLIENT);
  const options = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', '--types', 'node'];
  const modules = ['--module', 'nodenext', '--target', 'es2023'];
  const rewritten = ['--rewriteRelativeImportExtensions', '--noEmitOnError'];
  const compiled = await node(TSC, ...options, ...modules, ...rewritten, 'client.mts');
  expect(compiled.stdout).toBe('');

  const { stdout } = await node('client.mjs', console.url, key, DAY);
  expect(JSON.parse(stdout)).toMatchObject({
    day: { date: DAY, state: 'reconciled', titles: 1, signedOffBy: null },
    titles: 1,
    code: 'INPUT_INVALID',
    started: { from: DAY, to: DAY },
    statuses: [400, 201, 400, 404],
  });
});
