import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';

const DATE = '2026-03-03';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({ restate: false });
});
afterEach(() => sandbox.close());

function admin(method: string, path: string, body?: string, contentType = 'application/json') {
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': contentType };
  return fetch(`${sandbox.baseUrl}/_sandbox${path}`, { method, headers, ...(body && { body }) });
}

async function getDay(): Promise<string> {
  const path = `/api/anticipations/conciliation?conciliationDate=${DATE}`;
  const authorization = `Bearer ${sandbox.issueToken()}`;
  return (await fetch(`${sandbox.baseUrl}${path}`, { headers: { authorization } })).text();
}

describe('/_sandbox', () => {
  it('plans, shows and clears faults', async () => {
    const fault = { kind: 'status', status: 503, times: 'forever' };
    expect((await admin('PUT', '/faults', JSON.stringify([fault, fault]))).status).toBe(204);
    expect((await admin('PUT', '/faults', JSON.stringify(fault))).status).toBe(204);
    expect(await (await admin('GET', '/faults')).json()).toEqual([fault]);
    expect(await getDay()).toContain('503');
    expect((await admin('DELETE', '/faults')).status).toBe(204);
    expect(await getDay()).toContain('"titles"');
  });

  it.each([
    ['/faults', '{"kind":"explosion"}'],
    ['/faults', '{"kind":"status","status":"503"}'],
    ['/faults', '{"kind":"latency","latencyMs":1,"every":1}'],
    ['/days/2026-02-30', '{"titleCount":1}'],
    ['/days/2026-03-03', '{"titleCount":-1}'],
    ['/providers', '{"answer":"loud"}'],
  ])('answers 400 to PUT %s %s', async (path, body) => {
    expect((await admin('PUT', path, body)).status).toBe(400);
  });

  it('sets how many titles a day has, and takes it back', async () => {
    const usual = await getDay();
    await admin('PUT', `/days/${DATE}`, '{"titleCount":2}');
    expect((JSON.parse(await getDay()) as { titles: unknown[] }).titles).toHaveLength(2);
    await admin('DELETE', `/days/${DATE}`);
    expect(await getDay()).toBe(usual);
  });

  it('sets the titles of a day, a line each, as they are written', async () => {
    const lines = '{"originalValue":1.10}\n\n{"originalValue": 2}\n';
    await admin('PUT', `/days/${DATE}`, lines, 'application/x-ndjson');
    expect(await getDay()).toBe('{"titles":[{"originalValue":1.10},{"originalValue": 2}]}');
  });

  it('sets the whole body of a day', async () => {
    await admin('PUT', `/days/${DATE}/body`, '{"titles":', 'application/json');
    expect(await getDay()).toBe('{"titles":');
    await admin('DELETE', `/days/${DATE}`);
    expect(await getDay()).not.toBe('{"titles":');
  });

  it('issues tokens and sets the rules for providers', async () => {
    const { token } = (await (await admin('POST', '/tokens')).json()) as { token: string };
    await admin('PUT', '/providers', '{"answer":"summary"}');
    const answer = await fetch(`${sandbox.baseUrl}/api/providers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"providers":[]}',
    });
    expect(await answer.json()).toEqual({ received: 0, created: 0, updated: 0 });
  });

  it('is not among the requests it shows', async () => {
    await getDay();
    const requests = (await (await admin('GET', '/requests')).json()) as unknown[];
    expect(requests).toHaveLength(1);
  });

  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal);

  it.skipIf(outside === undefined)('answers this machine only', async () => {
    const open = await startSandbox({ host: '0.0.0.0' });
    try {
      const { port } = new URL(open.baseUrl);
      const there = await fetch(`http://${outside?.address}:${port}/_sandbox/tokens`, {
        method: 'POST',
      });
      expect(there.status).toBe(403);
      const here = await fetch(`${open.baseUrl}/_sandbox/tokens`, { method: 'POST' });
      expect(here.status).toBe(200);
    } finally {
      await open.close();
    }
  });
});
