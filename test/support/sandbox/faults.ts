interface Scope {
  readonly operation?: Operation;
  /** Only requests with this date in either parameter. */
  readonly date?: string;
  /** Number of requests; default 1. */
  readonly times?: number | 'forever';
}

export type Operation = 'conciliation' | 'providers';

/**
 * A fault of one answer. `status` and `body` replace the answer, and the request has no effect.
 * The other faults change the regular answer as networks and gateways do; a provider batch is still applied.
 */
export type Fault = Scope &
  (
    | {
        readonly kind: 'status';
        readonly status: number;
        readonly headers?: Readonly<Record<string, string>>;
        readonly body?: string;
        readonly contentType?: string;
      }
    /** 200 with this body. */
    | {
        readonly kind: 'body';
        readonly body: string;
        readonly contentType?: string;
      }
    /** Silence for this time, then the regular answer. */
    | { readonly kind: 'latency'; readonly latencyMs: number }
    /** The head and this many bytes, then silence on an open connection, and the rest once `until` is resolved. */
    | { readonly kind: 'stall'; readonly afterBytes: number; readonly until?: Promise<unknown> }
    /**
     * The connection ends after this many bytes, or at the end of the body: `end` closes it in order
     * (FIN), `reset` does not (RST). In both cases the last chunk is missing.
     */
    | {
        readonly kind: 'cut';
        readonly afterBytes: number;
        readonly how: 'reset' | 'end';
      }
    /** This many bytes at a time, with a pause in between. */
    | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  );

/** The faults in the order in which requests use them. */
export class FaultPlan {
  #waiting: { readonly fault: Fault; timesLeft: number }[] = [];

  add(...faults: readonly Fault[]): void {
    for (const fault of faults) {
      const { times = 1 } = fault;
      this.#waiting.push({ fault, timesLeft: times === 'forever' ? Infinity : times });
    }
  }

  clear(): void {
    this.#waiting = [];
  }

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
