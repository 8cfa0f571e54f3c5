import { pino } from 'pino';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { createLogger, type Logger } from '../../../src/base/runtime/logger.ts';
import type { ReadinessCheck } from '../../../src/console/shell/readiness.ts';
import { type ConsoleOptions, createConsole } from '../../../src/console/shell/server.ts';
import { type ConsoleAnswer, createClient } from '../../support/console-client.ts';

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

export interface TestConsole {
  readonly url: string;
  get(path: string): Promise<ConsoleAnswer>;
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
  const client = createClient(url);
  return {
    url,
    get: (path) => client.get(path, { accept: '*/*' }),
    close: () => console.close(),
  };
}

export const passing = (name: string): ReadinessCheck => ({ name, run: async () => null });
