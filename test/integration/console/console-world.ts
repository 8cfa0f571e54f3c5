import { pino } from 'pino';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/base/database/database.ts';
import { createLogger, type Logger } from '../../../src/base/runtime/logger.ts';
import { type ConsoleOptions, createConsole } from '../../../src/console/shell/server.ts';
import { createClient } from '../../support/console-client.ts';

export type TestLog = ReturnType<typeof createTestLog>;

/** A logger as the service has it, and what it wrote. */
export function createTestLog() {
  const written: string[] = [];
  return {
    logger: createLogger({ logLevel: 'trace' }, { write: (line) => void written.push(line) }),
    text: () => written.join(''),
    lines: () => written.map((line): Record<string, unknown> => JSON.parse(line)),
  };
}

/** A console on a free port of loopback until the end of the test, with nothing behind it unless told. */
export async function startConsole({
  logger = pino({ level: 'silent' }),
  ...options
}: Partial<Omit<ConsoleOptions, 'parts'>> & { readonly logger?: Logger } = {}) {
  const databaseUrl = 'postgresql://127.0.0.1:1/none';
  const console = createConsole({
    host: '127.0.0.1',
    port: 0,
    checks: [],
    registry: new Registry(),
    parts: {
      ...{ database: openDatabase({ databaseUrl, applicationName: 'none', logger }), logger },
      ...{ features: [], version: 'test', timeZone: 'America/Sao_Paulo', publicUrl: null },
      ...{ fourEyes: true, requiresSecondFactor: false, oidc: null },
      ...{ wake: async () => {}, plan: () => {} },
    },
    ...options,
  });
  const { url } = await console.start();
  onTestFinished(() => console.close());
  const client = createClient(url);
  return {
    url,
    get: (path: string) => client.get(path, { accept: '*/*' }),
    close: () => console.close(),
  };
}
