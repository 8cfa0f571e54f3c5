import { setTimeout as sleep } from 'node:timers/promises';

export interface SyntheticErp {
  stop(): Promise<void>;
}

/** A line of `GET /api/bookings`, as far as the ERP reads it. */
interface Line {
  readonly seq: string;
  readonly key: string;
  readonly contentHash: string;
}

interface Page {
  readonly lines: readonly Line[];
  readonly next: string;
}

const EVERY_MS = 1_000;
const LINES_AT_ONCE = 500;

/**
 * A made-up ERP that posts each booking line, as a program of an integrator does: it reads the feed after its
 * position, sends a receipt for each line, and then continues. After an error it tries again after a second.
 *
 * @param options.url the address of the console
 * @param options.key the API key of the consumer
 */
export function startSyntheticErp(options: {
  readonly url: string;
  readonly key: string;
}): SyntheticErp {
  const stopping = new AbortController();
  const { signal } = stopping;
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(new URL(path, options.url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${options.key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  };
  let position = '0';
  const post = async () => {
    const { lines, next } = (await ask(
      `/api/bookings?after=${position}&limit=${LINES_AT_ONCE}`,
    )) as Page;
    if (lines.length > 0) {
      await ask('/api/bookings/receipts', { receipts: lines.map(receiptOf) });
    }
    position = next;
  };
  const run = async () => {
    while (!signal.aborted) {
      await post().catch(() => undefined);
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    stop() {
      stopping.abort();
      return running;
    },
  };
}

const receiptOf = ({ seq, key, contentHash }: Line) => ({
  idempotencyKey: `${key}:${seq}`,
  key,
  contentHash,
  status: 'posted',
  document: `ERP-${seq}`,
});
