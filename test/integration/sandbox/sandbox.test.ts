import { afterEach, describe, expect, it } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { startSandbox as startDemoSandbox } from '../../../src/demo/sandbox.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../support/sandbox/sandbox.ts';

// Half past eleven at night in São Paulo; in UTC the next day has begun.
const NOW = () => new Date('2026-03-20T02:30:00Z');
const TODAY = toCivilDate('2026-03-19');
const YESTERDAY = toCivilDate('2026-03-18');
const OLD_DATE = toCivilDate('2026-03-03');

const started: Sandbox[] = [];

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ now: NOW, ...options });
  started.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((sandbox) => sandbox.close()));
});

function get(sandbox: Sandbox, query: string, token = sandbox.issueToken()): Promise<Response> {
  return fetch(`${sandbox.baseUrl}/api/anticipations/conciliation${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
}

async function getTitles(sandbox: Sandbox, query: string): Promise<{ acceptedDate: string }[]> {
  const response = await get(sandbox, query);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return ((await response.json()) as { titles: { acceptedDate: string }[] }).titles;
}

describe('the token', () => {
  it('is wanted by both operations', async () => {
    const sandbox = await start();
    const answers = await Promise.all([
      fetch(`${sandbox.baseUrl}/api/anticipations/conciliation?conciliationDate=${OLD_DATE}`),
      fetch(`${sandbox.baseUrl}/api/providers`, { method: 'POST', body: '{"providers":[]}' }),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await answer.json()).toMatchObject({ status: 401 });
    }
  });
});

describe('the conciliation query', () => {
  it('gives one accepted date for conciliationDate', async () => {
    const titles = await getTitles(await start(), `?conciliationDate=${OLD_DATE}`);
    expect(titles.length).toBeGreaterThan(50);
    expect(new Set(titles.map((title) => title.acceptedDate))).toEqual(new Set([OLD_DATE]));
  });

  it('gives every accepted date from anticipationDate to today in São Paulo', async () => {
    const sandbox = await start();
    const since = await getTitles(sandbox, '?anticipationDate=2026-03-17');
    expect([...new Set(since.map((title) => title.acceptedDate))]).toEqual([
      '2026-03-17',
      YESTERDAY,
      TODAY,
    ]);
    const today = await getTitles(sandbox, `?conciliationDate=${TODAY}`);
    expect(since.filter((title) => title.acceptedDate === TODAY)).toEqual(today);
  });

  it('has no titles of the future, nor from before the platform', async () => {
    const sandbox = await start();
    expect(await getTitles(sandbox, '?conciliationDate=2026-03-20')).toEqual([]);
    expect(await getTitles(sandbox, '?anticipationDate=2026-03-20')).toEqual([]);
    expect(await getTitles(sandbox, '?conciliationDate=2019-12-31')).toEqual([]);
  });

  it.each([
    '',
    `?conciliationDate=${OLD_DATE}&anticipationDate=${OLD_DATE}`,
    `?conciliationDate=${OLD_DATE}&conciliationDate=${OLD_DATE}`,
    '?conciliationDate=',
    '?conciliationDate=2026-02-30',
    '?anticipationDate=10/03/2026',
    '?anticipationDate=2026-3-1',
  ])('answers 400 to the query "%s"', async (query) => {
    const answer = await get(await start(), query);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ status: 400 });
  });
});

describe('the sandbox', () => {
  it('answers in the demo as in tests', async () => {
    const demo = await startDemoSandbox();
    const tests = await startSandbox();
    started.push(tests);
    try {
      const ask = async ({ baseUrl }: { readonly baseUrl: string }, token: string) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const answers = await Promise.all([
          ...[`?conciliationDate=${OLD_DATE}`, '?anticipationDate=2099-01-01', '?x'].map((query) =>
            fetch(`${baseUrl}/api/anticipations/conciliation${query}`, { headers }),
          ),
          ...['{"providers":[]}', '{"providers":[{}]}', '{'].map((body) =>
            fetch(`${baseUrl}/api/providers`, { method: 'POST', headers, body }),
          ),
        ]);
        const parts = answers.map(async (answer) => ({
          status: answer.status,
          type: answer.headers.get('content-type'),
          text: await answer.text(),
        }));
        return Promise.all(parts);
      };
      const answers = await ask(demo, demo.token);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 200, 400, 400]);
      expect(answers).toEqual(await ask(tests, tests.issueToken()));
      expect((await ask(demo, tests.issueToken())).map(({ status }) => status)).toEqual(
        answers.map(() => 401),
      );
    } finally {
      await demo.close();
    }
  });
});
