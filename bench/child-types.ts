import type { Handlers as LimitHandlers } from './limit-process.mjs';
import type { Handlers as PullHandlers } from './pull-process.mjs';
import type { Handlers as RenderHandlers } from './render-process.mjs';
import type { Handlers as SandboxHandlers } from './sandbox-process.mjs';
import type { Handlers as SweepHandlers } from './sweep-process.mjs';

/** The child processes of the benchmark, and what each can be asked. */
export interface Programs {
  'limit-process.mjs': LimitHandlers;
  'pull-process.mjs': PullHandlers;
  'render-process.mjs': RenderHandlers;
  'sandbox-process.mjs': SandboxHandlers;
  'sweep-process.mjs': SweepHandlers;
}

type ArgumentsOf<Handler> = Handler extends (...given: infer Given) => unknown ? Given : never;
type ResultOf<Handler> = Handler extends (...given: never) => infer Result
  ? Awaited<Result>
  : never;

export interface Child<Program extends keyof Programs> {
  /** Resolves to the result of the child's handler of that name. Rejects when the handler throws or the child ends. */
  call<Name extends keyof Programs[Program]>(
    name: Name,
    ...given: ArgumentsOf<Programs[Program][Name]>
  ): Promise<ResultOf<Programs[Program][Name]>>;
  /** Disconnects the child, so that it ends in good order and writes its CPU profile. A child that hangs is killed. */
  stop(): Promise<void>;
}

/** What a parent sends, and what the child answers. */
export interface Question {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}
export interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}
