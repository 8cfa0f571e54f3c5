import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { ConciliationError } from './errors.ts';

export type { Logger } from 'pino';

export interface LogOptions {
  readonly logLevel: LevelWithSilent;
}

/**
 * Returns a logger to standard error. Standard output is reserved for the results of commands. An error is logged as
 * `err`, which becomes its description.
 */
export function createLogger(config: LogOptions, destination?: DestinationStream): Logger {
  const stream = destination ?? pino.destination({ dest: 2, sync: true });
  return pino(
    {
      level: config.logLevel,
      timestamp: pino.stdTimeFunctions.isoTime,
      base: { pid: process.pid },
      serializers: { err: describeError },
    },
    stream,
  );
}

/**
 * Returns the part of an error that may be logged. The messages of this program's classes are
 * written for the log, and so is that of a `DescribedError`. The message of any other error (of a driver, a parser) may
 * quote a row or a response, so only its type, its code and its stack frames are kept.
 */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const cause = error.cause instanceof Error ? { cause: describeError(error.cause) } : {};
  if (error instanceof ConciliationError) {
    const context = Object.keys(error.context).length > 0 ? { context: error.context } : {};
    return { type: error.name, ...code, message: error.message, ...context, ...cause };
  }
  const message = error instanceof DescribedError ? { message: error.message } : {};
  return { type: error.name, ...code, ...message, stack: stackFrames(error), ...cause };
}

/** In place of an error whose message may quote values. Its own message describes the original without them. */
export class DescribedError extends Error {
  readonly code: string | null;

  constructor(original: Error, description: string, code: string | null) {
    super(description);
    this.name = original.name;
    this.code = code;
    const frames = stackFrames(original).map((frame) => `    ${frame}`);
    this.stack = [`${this.name}: ${this.message}`, ...frames].join('\n');
  }
}

/** Returns only the stack frames. The message, which comes first and may look like a frame, is removed. */
function stackFrames(error: Error): string[] {
  const { stack = '', message } = error;
  const lines = stack.slice(stack.indexOf(message) + message.length).matchAll(/^ *(at .*)$/gm);
  return Array.from(lines, ([, frame = '']) => frame).slice(0, 12);
}
