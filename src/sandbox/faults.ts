import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { InputError } from '../runtime/errors.ts';

const Bytes = Type.Integer({ minimum: 0 });
const Milliseconds = Type.Integer({ minimum: 0, maximum: 86_400_000 });

/** Which requests a fault meets, and how often. */
const SCOPE = {
  operation: Type.Optional(Type.Union([Type.Literal('conciliation'), Type.Literal('providers')])),
  /** Only requests that name this date in either parameter. */
  date: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  /** So many requests, 1 unless told. */
  times: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('forever')])),
};

function scoped<Fields extends Type.TProperties>(fields: Fields) {
  return Type.Object({ ...fields, ...SCOPE }, { additionalProperties: false });
}

/**
 * What goes wrong with one answer. `status`, `redirect` and `body` stand in for the answer: the
 * request then has no effect. The others do to the proper answer what networks and gateways do, and
 * a provider batch is applied although its answer is spoilt.
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
  /** 200 with this body, byte for byte. `encoding` tells how `body` spells the bytes. */
  scoped({
    kind: Type.Literal('body'),
    body: Type.String(),
    encoding: Type.Optional(Type.Union([Type.Literal('utf8'), Type.Literal('base64')])),
    contentType: Type.Optional(Type.String()),
  }),
  scoped({ kind: Type.Literal('content-type'), contentType: Type.String() }),
  /** Not a byte for that long, then the proper answer. */
  scoped({ kind: Type.Literal('latency'), latencyMs: Milliseconds }),
  /** The head and that many bytes, then silence on an open connection. */
  scoped({ kind: Type.Literal('stall'), afterBytes: Bytes }),
  /**
   * The connection is lost after that many bytes, or at the body's end if that comes first: `end`
   * closes it in good order (FIN), `reset` does not (RST). Either way the framing says that more was
   * to come: chunked without the last chunk, or with `framing: 'length'` too long a Content-Length.
   */
  scoped({
    kind: Type.Literal('cut'),
    afterBytes: Bytes,
    how: Type.Union([Type.Literal('reset'), Type.Literal('end')]),
    framing: Type.Optional(Type.Union([Type.Literal('chunked'), Type.Literal('length')])),
  }),
  /** So many bytes at a time, with a pause between. */
  scoped({
    kind: Type.Literal('drip'),
    bytes: Type.Integer({ minimum: 1 }),
    everyMs: Milliseconds,
  }),
  /**
   * Compressed, asked for or not. With `cutAfterBytes` the compressed data stops there while the
   * transfer itself ends in good order: only decompression can tell.
   */
  scoped({ kind: Type.Literal('gzip'), cutAfterBytes: Type.Optional(Bytes) }),
  /**
   * Neither length nor chunks: the body ends where the connection does. With `cutAfterBytes` that is
   * too early, and nothing but the unfinished document tells.
   */
  scoped({ kind: Type.Literal('close-delimited'), cutAfterBytes: Type.Optional(Bytes) }),
]);

export type Fault = Type.Static<typeof FaultSchema>;
export type Operation = 'conciliation' | 'providers';

const faultValidator = Compile(FaultSchema);

/** Throws an InputError that names the first fault that is not as `Fault` describes. */
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

/** Faults in the order in which requests will meet them. */
export class FaultPlan {
  #waiting: { readonly fault: Fault; timesLeft: number }[] = [];

  /** Puts faults at the end of the plan. Throws an InputError, and adds none, where one is wrong. */
  add(...faults: readonly Fault[]): void {
    for (const fault of parseFaults(faults)) {
      const { times = 1 } = fault;
      this.#waiting.push({ fault, timesLeft: times === 'forever' ? Infinity : times });
    }
  }

  clear(): void {
    this.#waiting = [];
  }

  /** Faults that no request has used up. */
  get pending(): readonly Fault[] {
    return this.#waiting.map(({ fault }) => fault);
  }

  /** The first fault that is meant for this request, which uses it up once. */
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
