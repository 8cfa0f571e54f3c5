import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * How long a loop runs before the event loop gets a turn, in milliseconds. New connections are
 * accepted between turns, so that with long turns a probe waits behind many other new connections.
 */
const MAX_TURN_MS = 1;

/**
 * Returns a function to be awaited after each chunk of a stream: buffered chunks, 2 MB and more, arrive without a turn
 * of the event loop between them.
 */
export function takeTurns(): () => Promise<void> {
  let startMs = performance.now();
  return async () => {
    if (performance.now() - startMs <= MAX_TURN_MS) return;
    await nextTurn();
    startMs = performance.now();
  };
}
