// The platform: the tests' sandbox, answering with bodies that were rendered to files before, so
// that it takes as little as possible of the CPUs that it shares with what is measured.
import { closeSync, openSync, readSync } from 'node:fs';
import { loadTypescript } from '../test/faults/load-typescript.mjs';
import { answerParent } from './child.mjs';

const { startSandbox } = await loadTypescript('../support/sandbox/sandbox.ts');

const CHUNK_BYTES = 64 * 1024;
const TOKEN_LIFETIME_SECONDS = 30 * 86_400;

/**
 * @import { CivilDate } from '#dist/domain/business-day.js'
 * @import { RenderedRequest } from './render-process.mjs'
 */

const now = process.env['SANDBOX_NOW'];
/** @type {import('../test/support/sandbox/sandbox.ts').Sandbox} */
const sandbox = await startSandbox({
  tokenLifetimeSeconds: TOKEN_LIFETIME_SECONDS,
  restate: false,
  ...(now === undefined ? {} : { now: () => new Date(now) }),
});

const handlers = {
  address: () => ({ baseUrl: sandbox.baseUrl, token: sandbox.issueToken() }),
  /**
   * From now on, requests that name the first date of a window get that window's body.
   *
   * @param {{ requests: RenderedRequest[], latencyMs: number }} options
   */
  serve({ requests, latencyMs }) {
    for (const { window, body } of requests) {
      sandbox.setRawBody(window.from, { body: () => chunksOf(body) });
    }
    sandbox.faults.clear();
    if (latencyMs > 0) sandbox.faults.add({ kind: 'latency', latencyMs, times: 'forever' });
  },
  /**
   * From now on, each date has that many synthetic titles.
   *
   * @param {{ dates: CivilDate[], titles: number }} options
   */
  setDays({ dates, titles }) {
    for (const date of dates) sandbox.setDaySize(date, titles);
  },
};
/** @typedef {typeof handlers} Handlers */

answerParent(handlers);

/** @param {string} path */
function* chunksOf(path) {
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const length = readSync(file, chunk);
      if (length === 0) return;
      yield chunk.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}
