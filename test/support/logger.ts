import { createLogger, type LogOptions } from '../../src/base/runtime/logger.ts';

export const logger = createLogger({ logLevel: 'silent' });

/** A logger as the service has it, and the lines that it has written. */
export function recordingLogger(logLevel: LogOptions['logLevel'] = 'trace') {
  const log: { readonly [field: string]: unknown; readonly msg: string; readonly level: number }[] =
    [];
  const write = (line: string) => void log.push(JSON.parse(line));
  return { log, logger: createLogger({ logLevel }, { write }) };
}
