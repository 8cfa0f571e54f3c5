import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a loop runs before everything else that waits in this process gets its turn. */
const MAX_TURN_MS = 20;

/**
 * For a loop over chunks of a stream: what has arrived, 2 MB and more, is handed out without a turn of
 * the event loop between.
 *
 * @returns to be awaited after each chunk
 */
export function takeTurns(): () => Promise<void> {
  let startMs = performance.now();
  return async () => {
    if (performance.now() - startMs <= MAX_TURN_MS) return;
    await nextTurn();
    startMs = performance.now();
  };
}
