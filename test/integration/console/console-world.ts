import { createLogger } from '../../../src/base/runtime/logger.ts';

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
