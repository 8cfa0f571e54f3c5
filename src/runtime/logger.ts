import {
  type DestinationStream,
  type LevelWithSilent,
  type Logger,
  pino,
  stdTimeFunctions,
} from 'pino';
import { build as pinoPretty } from 'pino-pretty';
import { ConciliationError } from './errors.ts';

export type { Logger } from 'pino';

export interface LogOptions {
  readonly logLevel: LevelWithSilent;
  readonly logFormat: 'json' | 'pretty';
}

/** Logs to standard error; standard output belongs to what a command was asked for. */
export function createLogger(config: LogOptions, destination?: DestinationStream): Logger {
  const stream =
    destination ??
    (config.logFormat === 'pretty'
      ? pinoPretty({ destination: 2, sync: true, ignore: 'pid,hostname' })
      : pino.destination({ dest: 2, sync: true }));
  return pino(
    {
      level: config.logLevel,
      timestamp: stdTimeFunctions.isoTime,
      base: { pid: process.pid },
      serializers: { err: describeError },
    },
    stream,
  );
}

const descriptions = new WeakSet<object>();

/**
 * What may be logged of an error. The message of our own classes is written for the log; anybody
 * else's (a driver's, a parser's) may quote a row or a response, so only its type, its code and the
 * places it passed through are kept. A description describes itself: the logger describes whatever it
 * is given as `err`, also where that was done before.
 */
export function describeError(error: unknown): object {
  if (typeof error === 'object' && error !== null && descriptions.has(error)) return error;
  const description = describe(error);
  descriptions.add(description);
  return description;
}

function describe(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const cause = error.cause instanceof Error ? { cause: describeError(error.cause) } : {};
  if (error instanceof ConciliationError) {
    const context = Object.keys(error.context).length > 0 ? { context: error.context } : {};
    return { type: error.name, ...code, message: error.message, ...context, ...cause };
  }
  return { type: error.name, ...code, stack: stackFrames(error), ...cause };
}

/** The places only: the message, which comes first and may itself look like one, is cut off. */
export function stackFrames(error: Error): string[] {
  const stack = error.stack ?? '';
  const afterMessage = stack.indexOf(error.message) + error.message.length;
  return stack
    .slice(afterMessage)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, 12);
}
