import { setTimeout as sleep } from 'node:timers/promises';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';

/** A response is kept in memory until it is whole, or this large, */
const MAX_HEAD_BYTES = 4 * 1024 * 1024;
/** or for so long. */
const MAX_HEAD_MS = 200;
/** Faster than PostgreSQL stores titles. */
const FAST_BYTES_PER_MS = 50_000;

/** A response of which the beginning is at hand. */
export interface ArrivingResponse extends ConciliationResponse {
  /** From the beginning. To be returned also where nobody has iterated it. */
  readonly chunks: AsyncIterableIterator<Uint8Array>;
  readonly isWhole: boolean;
  /** Whether the rest, too, can be expected to arrive faster than the titles can be stored. */
  readonly isFast: boolean;
}

/** Takes the beginning of a response in. Most responses are at hand as a whole then. */
export async function awaitHead(response: ConciliationResponse): Promise<ArrivingResponse> {
  const iterator = response.chunks[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let headBytes = 0;
  let pending = iterator.next();
  let isWhole = false;
  const startMs = performance.now();
  const timeout = new AbortController();
  const timeIsUp = sleep(MAX_HEAD_MS, null, { signal: timeout.signal }).catch(() => null);
  try {
    while (!isWhole && headBytes < MAX_HEAD_BYTES) {
      const result = await Promise.race([pending, timeIsUp]);
      if (result === null) break;
      isWhole = result.done === true;
      if (result.done === true) break;
      head.push(result.value);
      headBytes += result.value.length;
      pending = iterator.next();
    }
  } finally {
    timeout.abort();
  }
  const elapsedMs = performance.now() - startMs;
  // It may fail before anybody asks for it.
  pending.catch(() => {});
  let isPending = true;
  return {
    httpStatus: response.httpStatus,
    bytesReceived: response.bytesReceived,
    isWhole,
    isFast: isWhole || (headBytes >= MAX_HEAD_BYTES && headBytes > FAST_BYTES_PER_MS * elapsedMs),
    chunks: {
      next() {
        const value = head.shift();
        if (value !== undefined) return Promise.resolve({ done: false, value });
        if (!isPending) return iterator.next();
        isPending = false;
        return pending;
      },
      async return() {
        return (await iterator.return?.()) ?? { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    },
  };
}
