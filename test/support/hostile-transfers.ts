import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fileToken, fixedToken } from '../../src/core/platform/token.ts';
import {
  AFTER,
  breaksContract,
  documentWith,
  type Expected,
  type HostileResponse,
  type HostileStage,
  merged,
  sends,
  spoils,
  toTexts,
  unavailable,
} from './hostile-responses.ts';
import type { Fault } from './sandbox/faults.ts';

const status = (code: number, headers: Readonly<Record<string, string>> = {}): Fault => ({
  kind: 'status',
  status: code,
  headers,
  body: '{"message":"CANARY 52998224725"}',
});
const rateLimited = (httpStatus: number, delayMs: number): Expected => ({
  kind: 'retry',
  code: 'PLATFORM_RATE_LIMITED',
  message: new RegExp(`answered ${httpStatus}`),
  delayMs,
});
const refused = (message: RegExp): Expected => ({
  kind: 'unauthorized',
  code: 'PLATFORM_AUTH',
  message,
});
/** A token file that is replaced just when the old token is on its way to the platform. */
function rotatedToken(stage: HostileStage, replacement: string) {
  const folder = mkdtempSync(join(tmpdir(), 'conciliation-token-'));
  stage.afterwards(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'token');
  writeFileSync(path, stage.tokens.expired, { mode: 0o600 });
  const file = fileToken(path);
  return {
    async current() {
      const token = await file.current();
      writeFileSync(path, replacement);
      return token;
    },
  };
}

/** Answers that say by their status that there are no titles, or not here, or not for this token. */
export const HOSTILE_STATUSES: readonly HostileResponse[] = [
  spoils('400', status(400), { kind: 'failed', code: 'PLATFORM_REQUEST', message: /answered 400/ }),
  spoils('401 to a token that stays the same', status(401), refused(/answered 401/)),
  spoils('403', status(403), refused(/answered 403/)),
  spoils('404', status(404), breaksContract(/answered 404, expected 200/)),
  spoils('429', status(429), rateLimited(429, 0)),
  spoils('429 with Retry-After', status(429, { 'retry-after': '7' }), rateLimited(429, 7000)),
  spoils(
    '429 with a Retry-After of a century',
    status(429, { 'retry-after': '3155760000' }),
    rateLimited(429, 86_400_000),
  ),
  spoils(
    '429 with a Retry-After of rubbish',
    status(429, { 'retry-after': 'CANARY' }),
    rateLimited(429, 0),
  ),
  spoils('500', status(500), unavailable(/answered 500/)),
  spoils('503 with Retry-After', status(503, { 'retry-after': '3' }), rateLimited(503, 3000)),
  {
    name: '401 although the token was replaced by another that has expired',
    serve: (stage) => ({
      platform: stage.openClient({ token: rotatedToken(stage, stage.tokens.expired.concat('x')) }),
    }),
    expected: refused(/answered 401/),
    requests: 2,
  },
  {
    name: '401 to a token that was replaced meanwhile',
    serve(stage, date) {
      stage.sandbox.setDayTexts(date, toTexts(AFTER, date));
      return { platform: stage.openClient({ token: rotatedToken(stage, stage.tokens.good) }) };
    },
    expected: merged(),
    requests: 2,
  },
  {
    name: '401 to a fixed token that has expired',
    serve: (stage) => ({ platform: stage.openClient({ token: fixedToken(stage.tokens.expired) }) }),
    expected: refused(/answered 401/),
  },
  {
    name: 'a redirect on the same host',
    serve(stage, date) {
      const to = '/api/anticipations/conciliation?conciliationDate=2026-01-01';
      return spoils('', { kind: 'redirect', to }, refused(/ /)).serve(stage, date);
    },
    expected: breaksContract(/answered 302, expected 200/),
  },
  {
    name: 'a redirect to another host, method kept',
    serve(stage, date) {
      const to = `${stage.elsewhere.baseUrl}/api/anticipations/conciliation?conciliationDate=${date}`;
      return spoils('', { kind: 'redirect', to, status: 307 }, refused(/ /)).serve(stage, date);
    },
    expected: breaksContract(/answered 307, expected 200/),
  },
];

/** The silence that a client of these cases bears, and one that is well within it. */
const PATIENCE_MS = 400;

function spoilsImpatient(name: string, fault: Fault, expected: Expected): HostileResponse {
  const response = spoils(name, fault, expected);
  return {
    ...response,
    serve(stage, date) {
      void response.serve(stage, date);
      return { platform: stage.openClient({ timeoutMs: PATIENCE_MS }) };
    },
  };
}

/** Answers on a connection that shows something else than `test/integration/platform` does. */
export const HOSTILE_TRANSFERS: readonly HostileResponse[] = [
  sends(
    'a gzip stream that no header announces',
    (date) => gzipSync(documentWith(date)),
    breaksContract(/not a JSON object/),
  ),
  sends(
    'a gzip stream that grows a thousandfold',
    (date) => gzipSync(documentWith(date).replace('[', `[${' '.repeat(8 * 1024 * 1024)}`)),
    merged(),
    { 'content-encoding': 'gzip' },
  ),
  spoilsImpatient(
    'silence after the whole document',
    { kind: 'stall', afterBytes: 1e6 },
    unavailable(/sent nothing for 0\.4 seconds/),
  ),
  spoilsImpatient(
    'a slow drip that takes longer than any silence may',
    { kind: 'drip', bytes: 60, everyMs: 20 },
    merged(),
  ),
  spoils('a few bytes at a time', { kind: 'drip', bytes: 5, everyMs: 0 }, merged()),
  {
    name: 'an unknown host',
    serve: async (stage) => ({
      platform: stage.openClient({ baseUrl: new URL('http://platform.invalid') }),
    }),
    expected: unavailable(/no answer from the platform \((ENOTFOUND|EAI_AGAIN)\)/),
    requests: 0,
  },
];
