/**
 * The platform: the tests' sandbox. It can answer with bodies that were rendered to files in advance, so that it takes
 * as little as possible of the CPUs that it shares with what is measured.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import type { CivilDate } from '#dist/base/values/business-day.js';
import { loadTypescript } from '../test/faults/load-typescript.mjs';
import type { Sandbox } from '../test/support/sandbox/sandbox.ts';
import { answerParent } from './child.ts';
import type { Answer } from './render-process.ts';

const CHUNK_BYTES = 64 * 1024;

export interface PlatformAddress {
  readonly baseUrl: string;
  readonly token: string;
}

const { startSandbox } = await loadTypescript('../support/sandbox/sandbox.ts');
const now = process.env['SANDBOX_NOW'];
const sandbox: Sandbox = await startSandbox({
  restate: false,
  ...(now === undefined ? {} : { now: () => new Date(now) }),
});

const handlers = {
  address: (): PlatformAddress => ({ baseUrl: sandbox.baseUrl, token: sandbox.issueToken() }),

  /** From now on, requests that name the date of an answer get that answer's body. */
  serve({ answers }: { answers: readonly Answer[] }): void {
    for (const { date, body } of answers) {
      sandbox.setRawBody(date, { body: () => chunksOf(body) });
    }
  },

  /** From now on, each date has that many synthetic titles. */
  setDays({ dates, titles }: { dates: readonly CivilDate[]; titles: number }): void {
    for (const date of dates) sandbox.setDaySize(date, titles);
  },
};
export type SandboxProgram = typeof handlers;

answerParent(handlers);

function* chunksOf(path: string): Generator<Uint8Array, void> {
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
