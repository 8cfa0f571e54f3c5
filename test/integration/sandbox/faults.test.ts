import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toCivilDate } from '../../../src/domain/business-day.ts';
import { type Sandbox, startSandbox } from '../../support/sandbox/sandbox.ts';

const DATE = toCivilDate('2026-03-03');
const OTHER_DATE = toCivilDate('2026-03-04');
const TITLE = JSON.stringify({ order: { uid: 'a' }, name: 'Conceição', filler: 'x'.repeat(2_000) });
const BODY = `{"titles":[${TITLE}]}`;
const BODY_BYTES = Buffer.from(BODY);

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox();
  sandbox.setDayTexts(DATE, [TITLE]);
});
afterEach(() => sandbox.close());

function get(date: string = DATE) {
  return request(`${sandbox.baseUrl}/api/anticipations/conciliation?conciliationDate=${date}`, {
    headers: { authorization: `Bearer ${sandbox.issueToken()}` },
  });
}

interface Wire {
  readonly head: string;
  readonly body: Buffer;
  readonly end: 'fin' | 'reset' | 'still open';
}

/** One request on a separate socket: the received bytes, and the end of the connection within `waitMs`. */
function getOnWire(waitMs: number): Promise<Wire> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(sandbox.baseUrl);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    const settle = (end: Wire['end']) => {
      clearTimeout(timer);
      socket.destroy();
      const bytes = Buffer.concat(chunks);
      const bodyStart = bytes.indexOf('\r\n\r\n') + 4;
      const head = bytes.subarray(0, bodyStart).toString('latin1').toLowerCase();
      resolve({ head, body: bytes.subarray(bodyStart), end });
    };
    const timer = setTimeout(() => settle('still open'), waitMs);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => settle('fin'));
    socket.on('error', () => settle('reset'));
    socket.write(
      `GET /api/anticipations/conciliation?conciliationDate=${DATE} HTTP/1.1\r\nHost: sandbox\r\n` +
        `Authorization: Bearer ${sandbox.issueToken()}\r\n\r\n`,
    );
  });
}

/** The data of a chunked body, which need not be complete. */
function dechunk(body: Buffer): { data: Buffer; isTerminated: boolean } {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < body.length) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.subarray(at, lineEnd).toString('latin1'), 16);
    if (size === 0) return { data: Buffer.concat(parts), isTerminated: true };
    parts.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return { data: Buffer.concat(parts), isTerminated: false };
}

describe('faults in place of the answer', () => {
  it.each([500, 503, 429, 401, 400, 418])(
    'answers %i once, with its headers and body',
    async (status) => {
      sandbox.faults.add({
        kind: 'status',
        status,
        headers: { 'Retry-After': '7', 'Content-Type': 'text/plain' },
        body: 'não',
      });
      const answer = await get();
      expect(answer.statusCode).toBe(status);
      expect(answer.headers['retry-after']).toBe('7');
      expect(answer.headers['content-type']).toBe('text/plain');
      expect(await answer.body.text()).toBe('não');
      expect(await (await get()).body.text()).toBe(BODY);
    },
  );

  it('answers JSON to a request without a body type', async () => {
    sandbox.faults.add({ kind: 'status', status: 500 });
    const answer = await get();
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(await answer.body.json()).toMatchObject({ status: 500 });
  });

  it('redirects', async () => {
    sandbox.faults.add({ kind: 'redirect', to: 'https://example.com/x', status: 307 });
    const answer = await get();
    expect(answer.statusCode).toBe(307);
    expect(answer.headers['location']).toBe('https://example.com/x');
    expect(await answer.body.text()).toBe('');
  });

  it('sends another body, as text or as bytes', async () => {
    sandbox.faults.add(
      { kind: 'body', body: '<html>', contentType: 'text/html' },
      { kind: 'body', body: '/wB7', encoding: 'base64' },
    );
    const text = await get();
    expect(text.headers['content-type']).toBe('text/html');
    expect(await text.body.text()).toBe('<html>');
    const bytes = Buffer.from(await (await get()).body.arrayBuffer());
    expect([...bytes]).toEqual([0xff, 0x00, 0x7b]);
  });
});

describe('faults of the proper answer', () => {
  it('names another content type', async () => {
    sandbox.faults.add({ kind: 'content-type', contentType: 'text/html' });
    const answer = await get();
    expect(answer.headers['content-type']).toBe('text/html');
    expect(await answer.body.text()).toBe(BODY);
  });

  it('lets the client wait for the head', async () => {
    sandbox.faults.add({ kind: 'latency', latencyMs: 300 });
    const askedAt = performance.now();
    expect(await (await get()).body.text()).toBe(BODY);
    expect(performance.now() - askedAt).toBeGreaterThanOrEqual(295);
  });

  it.each([0, 1_000])('stalls after %i bytes on an open connection', async (afterBytes) => {
    sandbox.faults.add({ kind: 'stall', afterBytes });
    const wire = await getOnWire(300);
    expect(wire.head).toMatch(/^http\/1\.1 200 /);
    expect(wire.end).toBe('still open');
    expect(dechunk(wire.body).data).toEqual(BODY_BYTES.subarray(0, afterBytes));
    expect(dechunk(wire.body).isTerminated).toBe(false);
  });

  it('cuts a chunked body in good order but before its last chunk', async () => {
    sandbox.faults.add({ kind: 'cut', afterBytes: 1_000, how: 'end' });
    const wire = await getOnWire(2_000);
    expect(wire.end).toBe('fin');
    expect(wire.head).toContain('transfer-encoding: chunked');
    const { data, isTerminated } = dechunk(wire.body);
    expect(data.length).toBe(1_000);
    expect(isTerminated).toBe(false);
  });

  it('cuts at the end of a shorter body: every title sent, the last chunk not', async () => {
    sandbox.faults.add({ kind: 'cut', afterBytes: 1_000_000, how: 'end' });
    const wire = await getOnWire(2_000);
    expect(wire.end).toBe('fin');
    const { data, isTerminated } = dechunk(wire.body);
    expect(data.toString()).toBe(BODY);
    expect(isTerminated).toBe(false);
  });

  it('cuts short of the Content-Length', async () => {
    sandbox.faults.add({ kind: 'cut', afterBytes: 1_000, how: 'end', framing: 'length' });
    const wire = await getOnWire(2_000);
    expect(wire.end).toBe('fin');
    expect(wire.body.length).toBe(1_000);
    const length = /content-length: (\d+)/.exec(wire.head)?.[1];
    expect(Number(length)).toBeGreaterThan(BODY.length);
    expect(wire.head).not.toContain('transfer-encoding');
  });

  it('resets the connection', async () => {
    sandbox.faults.add({ kind: 'cut', afterBytes: 1_000, how: 'reset' });
    expect((await getOnWire(2_000)).end).toBe('reset');
  });

  it.each(['end', 'reset'] as const)('makes a client fail when cut by %s', async (how) => {
    sandbox.faults.add({ kind: 'cut', afterBytes: 1_000, how });
    await expect(get().then((answer) => answer.body.text())).rejects.toThrow();
  });

  it('drips', async () => {
    sandbox.faults.add({ kind: 'drip', bytes: 500, everyMs: 50 });
    const answer = await get();
    const startedAt = performance.now();
    const chunks: Buffer[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(BODY);
    expect(chunks.length).toBeGreaterThanOrEqual(4);
    expect(performance.now() - startedAt).toBeGreaterThan(150);
  });

  it('compresses without being asked', async () => {
    sandbox.faults.add({ kind: 'gzip' });
    const answer = await get();
    expect(answer.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(await answer.body.arrayBuffer()).toString()).toBe(BODY);
  });

  it('ends a transfer in good order whose compressed data is cut', async () => {
    sandbox.faults.add({ kind: 'gzip', cutAfterBytes: 20 });
    const answer = await get();
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    expect(bytes.length).toBe(20);
    expect(() => gunzipSync(bytes)).toThrow(/unexpected end/);
  });

  it('ends the body with the connection', async () => {
    sandbox.faults.add(
      { kind: 'close-delimited' },
      { kind: 'close-delimited', cutAfterBytes: 900 },
    );
    const whole = await getOnWire(2_000);
    expect(whole.head).toContain('connection: close');
    expect(whole.head).not.toMatch(/content-length|transfer-encoding/);
    expect(whole.end).toBe('fin');
    expect(whole.body.toString()).toBe(BODY);
    const cut = await getOnWire(2_000);
    expect(cut.end).toBe('fin');
    expect(cut.body).toEqual(BODY_BYTES.subarray(0, 900));
  });

  it('is shown in the log of requests with the status that was sent', async () => {
    sandbox.faults.add({ kind: 'status', status: 503 }, { kind: 'stall', afterBytes: 10 });
    await (await get()).body.dump();
    await getOnWire(100);
    expect(sandbox.requests.map(({ status }) => status)).toEqual([503, 200]);
  });

  it('closes at once although an answer stalls', async () => {
    sandbox.faults.add({ kind: 'stall', afterBytes: 10 });
    const wire = getOnWire(5_000);
    await expect.poll(() => sandbox.requests.map(({ status }) => status)).toEqual([200]);
    const closingFrom = performance.now();
    await sandbox.close();
    expect(performance.now() - closingFrom).toBeLessThan(15_000);
    expect((await wire).end).not.toBe('still open');
  });
});

describe('the plan of faults', () => {
  const statuses = async (...dates: string[]) => {
    const seen: number[] = [];
    for (const date of dates) {
      const answer = await get(date);
      seen.push(answer.statusCode);
      await answer.body.dump();
    }
    return seen;
  };

  it('is met in order, each fault as often as it says', async () => {
    sandbox.faults.add({ kind: 'status', status: 500, times: 2 }, { kind: 'status', status: 429 });
    expect(await statuses(DATE, DATE, DATE, DATE)).toEqual([500, 500, 429, 200]);
    expect(sandbox.faults.pending).toEqual([]);
  });

  it('lasts until cleared', async () => {
    sandbox.faults.add({ kind: 'status', status: 503, times: 'forever' });
    expect(await statuses(DATE, DATE, DATE)).toEqual([503, 503, 503]);
    sandbox.faults.clear();
    expect(await statuses(DATE)).toEqual([200]);
  });

  it('leaves other dates and the other operation alone', async () => {
    sandbox.faults.add(
      { kind: 'status', status: 500, operation: 'providers' },
      { kind: 'status', status: 503, date: DATE },
    );
    expect(await statuses(OTHER_DATE, DATE, DATE)).toEqual([200, 503, 200]);
    expect(sandbox.faults.pending).toHaveLength(1);
  });

  it('is not used up by a request without a good token', async () => {
    sandbox.faults.add({ kind: 'status', status: 503 });
    await fetch(`${sandbox.baseUrl}/api/anticipations/conciliation?conciliationDate=${DATE}`);
    expect(await statuses(DATE)).toEqual([503]);
  });
});
