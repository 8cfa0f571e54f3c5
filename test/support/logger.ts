import { type LevelWithSilent, pino } from 'pino';

export const logger = pino({ level: 'silent' });

/** A logger, and the lines that it has written. */
export function recordingLogger(level: LevelWithSilent) {
  const log: { readonly [field: string]: unknown; readonly msg: string; readonly level: number }[] =
    [];
  return { log, logger: pino({ level }, { write: (line) => void log.push(JSON.parse(line)) }) };
}
