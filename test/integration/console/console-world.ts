import { pino } from 'pino';
import { Registry } from 'prom-client';
import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { createLogger, type Logger } from '../../../src/base/runtime/logger.ts';
import type { ReadinessCheck } from '../../../src/console/shell/readiness.ts';
import { type ConsoleOptions, createConsole } from '../../../src/console/shell/server.ts';

/** A logger as the service has it, and what it wrote. */
export interface TestLog {
  readonly logger: Logger;
  readonly text: () => string;
  readonly lines: () => Record<string, unknown>[];
}

export function createTestLog(): TestLog {
  let text = '';
  const logger = createLogger(
    { logLevel: 'trace' },
    {
      write(line: string) {
        text += line;
      },
    },
  );
  return {
    logger,
    text: () => text,
    lines: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  readonly json: () => unknown;
}

export interface TestConsole {
  readonly url: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  send(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string): Promise<Answer>;
  close(): Promise<void>;
}

/** A console on a free port of loopback until the end of the test, with nothing behind it unless told. */
export async function startConsole(options: Partial<ConsoleOptions> = {}): Promise<TestConsole> {
  const console = createConsole({
    host: '127.0.0.1',
    port: 0,
    checks: [],
    registry: new Registry(),
    logger: pino({ level: 'silent' }),
    parts: null,
    ...options,
  });
  const { url } = await console.start();
  onTestFinished(() => console.close());
  const ask = async (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await request(url + path, { method, headers });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      json: () => JSON.parse(text),
    };
  };
  return {
    url,
    get: (path, headers) => ask('GET', path, headers),
    send: (method, path) => ask(method, path),
    close: () => console.close(),
  };
}

export const passing = (name: string): ReadinessCheck => ({ name, run: async () => null });
