import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createPlatformClient,
  type PlatformClient,
} from '../../src/core/platform/conciliation-client.ts';
import { fixedToken } from '../../src/core/platform/token.ts';

/** An answer that has begun and is not whole before the test says so. */
export interface GatedAnswer {
  release(): void;
}

/**
 * A platform that stops in the middle of its answers, for as long as a test needs. Times of any
 * length would only make the order of things likely; a gate makes it certain.
 */
export interface GatedPlatform {
  readonly baseUrl: URL;
  readonly platform: PlatformClient;
  /** The next request is given these titles, of which the last is kept back. */
  next(titles: readonly string[]): void;
  /** The answer to that request, once its beginning is on its way. */
  begun(): Promise<GatedAnswer>;
  close(): Promise<void>;
}

export async function openGatedPlatform(): Promise<GatedPlatform> {
  const planned: (readonly string[])[] = [];
  const begun: GatedAnswer[] = [];
  const server = createServer((_request, response) => {
    const titles = planned.shift();
    if (titles === undefined) {
      response.writeHead(500).end();
      return;
    }
    begun.push(begin(response, titles));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const platform = createPlatformClient({
    baseUrl,
    token: fixedToken('token'),
    concurrency: 4,
    timeoutMs: 30_000,
    userAgent: 'test',
  });
  return {
    baseUrl,
    platform,
    next: (titles) => planned.push(titles),
    async begun() {
      for (;;) {
        const answer = begun.shift();
        if (answer !== undefined) return answer;
        await sleep(5);
      }
    },
    async close() {
      await platform.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function begin(response: ServerResponse, titles: readonly string[]): GatedAnswer {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(`{"titles":[${titles.slice(0, -1).join(',')}`);
  const separator = titles.length > 1 ? ',' : '';
  return { release: () => response.end(`${separator}${titles.at(-1) ?? ''}]}`) };
}
