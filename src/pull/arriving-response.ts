import { setTimeout as sleep } from 'node:timers/promises';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';

/** A response is kept in memory until it is whole, or this large, */
const MAX_HEAD_BYTES = 2 * 1024 * 1024;
/** or for so long. */
const MAX_HEAD_MS = 200;
/** Faster than PostgreSQL stores titles. */
const FAST_BYTES_PER_MS = 50_000;
/** Of the head, what is handed out at a time. */
const CHUNK_BYTES = 64 * 1024;

/** A response of which the beginning is at hand. */
export interface ArrivingResponse extends ConciliationResponse {
  /** From the beginning. Each chunk is good until the next. To be returned also if never iterated. */
  readonly chunks: AsyncIterableIterator<Uint8Array>;
  readonly isWhole: boolean;
  /** Whether the rest, too, can be expected to arrive faster than the titles can be stored. */
  readonly isFast: boolean;
}

/**
 * Beginnings are kept in memory that is used again: chunks that wait for as long as it takes to decide
 * what becomes of them would pile up until the next full garbage collection.
 */
const freeHeads: Buffer[] = [];

/** Takes the beginning of a response in. Most responses are at hand as a whole then. */
export async function awaitHead(response: ConciliationResponse): Promise<ArrivingResponse> {
  const iterator = response.chunks[Symbol.asyncIterator]();
  const head = freeHeads.pop() ?? Buffer.allocUnsafeSlow(MAX_HEAD_BYTES);
  let headBytes = 0;
  /** What did not fit, and what is awaited. */
  let next: Promise<IteratorResult<Uint8Array>> | null = iterator.next();
  let isWhole = false;
  const startMs = performance.now();
  const timeout = new AbortController();
  const timeIsUp = sleep(MAX_HEAD_MS, null, { signal: timeout.signal }).catch(() => null);
  try {
    for (;;) {
      const result = await Promise.race([next, timeIsUp]);
      if (result === null) break;
      isWhole = result.done === true;
      if (result.done === true || headBytes + result.value.length > head.length) break;
      head.set(result.value, headBytes);
      headBytes += result.value.length;
      next = iterator.next();
    }
  } catch (error) {
    freeHeads.push(head);
    throw error;
  } finally {
    timeout.abort();
  }
  const elapsedMs = performance.now() - startMs;
  const isFull = !isWhole && elapsedMs < MAX_HEAD_MS;
  // It may fail before anybody asks for it.
  next.catch(() => {});
  let handedOut = 0;
  let isFree = false;
  const freeHead = () => {
    if (!isFree) freeHeads.push(head);
    isFree = true;
  };
  return {
    httpStatus: response.httpStatus,
    bytesReceived: response.bytesReceived,
    isWhole,
    isFast: isWhole || (isFull && headBytes > FAST_BYTES_PER_MS * elapsedMs),
    chunks: {
      async next() {
        if (handedOut < headBytes) {
          const start = handedOut;
          handedOut = Math.min(start + CHUNK_BYTES, headBytes);
          return { done: false, value: head.subarray(start, handedOut) };
        }
        freeHead();
        const awaited = next ?? iterator.next();
        next = null;
        return awaited;
      },
      async return() {
        freeHead();
        handedOut = headBytes;
        return (await iterator.return?.()) ?? { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    },
  };
}
