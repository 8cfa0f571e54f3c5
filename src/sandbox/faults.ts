import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { InputError } from '../runtime/errors.ts';

const Bytes = Type.Integer({ minimum: 0 });
const Milliseconds = Type.Integer({ minimum: 0, maximum: 86_400_000 });

/** The requests to which a fault applies, and the number of times. */
const SCOPE = {
  operation: Type.Optional(Type.Union([Type.Literal('conciliation'), Type.Literal('providers')])),
  /** Only requests with this date in either parameter. */
  date: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  /** Number of requests; default 1. */
  times: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('forever')])),
};

function scoped<Fields extends Type.TProperties>(fields: Fields) {
  return Type.Object({ ...fields, ...SCOPE }, { additionalProperties: false });
}

/**
 * A fault of one answer. `status`, `redirect` and `body` replace the answer, and the request has no effect.
 * The other faults change the regular answer as networks and gateways do; a provider batch is still applied.
 */
const FaultSchema = Type.Union([
  scoped({
    kind: Type.Literal('status'),
    status: Type.Integer({ minimum: 200, maximum: 599 }),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    body: Type.Optional(Type.String()),
    contentType: Type.Optional(Type.String()),
  }),
  scoped({
    kind: Type.Literal('redirect'),
    to: Type.String(),
    status: Type.Optional(Type.Integer({ minimum: 300, maximum: 399 })),
  }),
  /** 200 with this body, byte for byte. `encoding` is the encoding of `body`. */
  scoped({
    kind: Type.Literal('body'),
    body: Type.String(),
    encoding: Type.Optional(Type.Union([Type.Literal('utf8'), Type.Literal('base64')])),
    contentType: Type.Optional(Type.String()),
  }),
  scoped({ kind: Type.Literal('content-type'), contentType: Type.String() }),
  /** Silence for this time, then the regular answer. */
  scoped({ kind: Type.Literal('latency'), latencyMs: Milliseconds }),
  /** The head and this many bytes, then silence on an open connection. */
  scoped({ kind: Type.Literal('stall'), afterBytes: Bytes }),
  /**
   * The connection ends after this many bytes, or at the end of the body: `end` closes it in order
   * (FIN), `reset` does not (RST). In both cases the framing announces more: chunks without the
   * last one, or with `framing: 'length'` a Content-Length that is too large.
   */
  scoped({
    kind: Type.Literal('cut'),
    afterBytes: Bytes,
    how: Type.Union([Type.Literal('reset'), Type.Literal('end')]),
    framing: Type.Optional(Type.Union([Type.Literal('chunked'), Type.Literal('length')])),
  }),
  /** This many bytes at a time, with a pause in between. */
  scoped({
    kind: Type.Literal('drip'),
    bytes: Type.Integer({ minimum: 1 }),
    everyMs: Milliseconds,
  }),
  /**
   * Compressed, even if not requested. With `cutAfterBytes` the compressed data ends there and the
   * transfer ends in order, so that only the decompression finds the fault.
   */
  scoped({ kind: Type.Literal('gzip'), cutAfterBytes: Type.Optional(Bytes) }),
  /**
   * Neither a length nor chunks: the end of the connection is the end of the body. With
   * `cutAfterBytes` it comes too early, and only the incomplete document shows that.
   */
  scoped({ kind: Type.Literal('close-delimited'), cutAfterBytes: Type.Optional(Bytes) }),
  /** Other titles than the date has; the document is as it should be. See `implausibleTitles`. */
  scoped({
    kind: Type.Union([
      Type.Literal('double'),
      Type.Literal('lost-buyer'),
      Type.Literal('divided-by-100'),
      Type.Literal('restated-due-date'),
      Type.Literal('changed-account'),
    ]),
  }),
]);

export type Fault = Type.Static<typeof FaultSchema>;
export type Operation = 'conciliation' | 'providers';

const faultValidator = Compile(FaultSchema);

/** @throws InputError that describes the first invalid fault */
export function parseFaults(value: unknown): Fault[] {
  return (Array.isArray(value) ? value : [value]).map((candidate: unknown, index) => {
    if (!faultValidator.Check(candidate)) {
      throw new InputError(
        `fault ${index} is not one of the kinds of fault, or a field of it is wrong`,
      );
    }
    return candidate;
  });
}

/** The faults in the order in which requests use them. */
export class FaultPlan {
  #waiting: { readonly fault: Fault; timesLeft: number }[] = [];

  /**
   * Adds faults at the end of the plan.
   * @throws InputError if a fault is invalid; then no fault is added
   */
  add(...faults: readonly Fault[]): void {
    for (const fault of parseFaults(faults)) {
      const { times = 1 } = fault;
      this.#waiting.push({ fault, timesLeft: times === 'forever' ? Infinity : times });
    }
  }

  clear(): void {
    this.#waiting = [];
  }

  /** The faults that are not used up. */
  get pending(): readonly Fault[] {
    return this.#waiting.map(({ fault }) => fault);
  }

  /** Returns the first fault that applies to this request, and uses it once. */
  take(operation: Operation, dates: readonly string[]): Fault | null {
    const found = this.#waiting.find(
      ({ fault }) =>
        (fault.operation === undefined || fault.operation === operation) &&
        (fault.date === undefined || dates.includes(fault.date)),
    );
    if (found === undefined) return null;
    found.timesLeft -= 1;
    if (found.timesLeft === 0) this.#waiting = this.#waiting.filter((entry) => entry !== found);
    return found.fault;
  }
}
