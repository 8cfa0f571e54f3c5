import { StagingUnavailableError } from '../errors.ts';
import { SilenceTimer } from '../platform/silence-timer.ts';
import type { ArrivingResponse } from './arriving-response.ts';

/** How long a load waits for the platform while it holds its locks. */
const MAX_PAUSE_MS = 1000;
/** How long it reads in all. */
const MAX_LOAD_MS = 60_000;
/** A platform that paused once does so again. */
const CLOSED_MS = 3_600_000;

/**
 * Decides which responses are loaded straight into `title` while the locks of their merge are held:
 * those that are in memory as a whole, and those that arrive as fast as they can be stored. All others
 * are staged. Nothing is lost where this was wrong: the load ends, and the pull is fetched again.
 */
export class DirectLoads {
  #closedUntilMs = 0;

  admits(response: ArrivingResponse): boolean {
    return response.isWhole || (response.isFast && performance.now() >= this.#closedUntilMs);
  }

  /**
   * The response, which must not keep its reader waiting.
   *
   * Iterating throws StagingUnavailableError where it did.
   */
  withoutPauses(response: ArrivingResponse): ArrivingResponse {
    if (response.isWhole) return response;
    const { chunks } = response;
    const endMs = performance.now() + MAX_LOAD_MS;
    let isTooSlow = false;
    const giveUp = () => {
      isTooSlow = true;
      this.#closedUntilMs = performance.now() + CLOSED_MS;
      // Whoever waits for the next chunk is told that there is none.
      void chunks.return?.();
    };
    const pause = new SilenceTimer(MAX_PAUSE_MS, giveUp);
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      pause.arm();
      const result = await chunks.next().catch((error: unknown) => {
        throw isTooSlow ? tooSlow(error) : error;
      });
      pause.clear();
      if (result.done !== true && performance.now() > endMs) giveUp();
      if (isTooSlow) throw tooSlow();
      return result;
    };
    return {
      ...response,
      chunks: {
        next: () => next().finally(() => pause.clear()),
        return: async () => (await chunks.return?.()) ?? { done: true, value: undefined },
        [Symbol.asyncIterator]() {
          return this;
        },
      },
    };
  }
}

function tooSlow(cause?: unknown): StagingUnavailableError {
  return new StagingUnavailableError(
    'the answer began fast and then came too slowly to be stored as it arrived; it is fetched again and staged first',
    cause === undefined ? {} : { cause },
  );
}
