import { onTestFinished } from 'vitest';
import type { ConciliationError } from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import type {
  ConciliationResponse,
  PlatformClient,
} from '../../../src/core/platform/conciliation-client.ts';
import type { HttpOriginOptions } from '../../../src/core/platform/http-origin.ts';
import { dayWindow, type PullWindow } from '../../../src/core/title/title-contract.ts';
import { openPlatform } from '../../support/platform-client.ts';
import { RawServer } from './raw-server.ts';

export const TOKEN = 'eyJ.secret-token.sig';
export const DAY: PullWindow = dayWindow(toCivilDate('2026-01-02'));

/** A server that lives as long as the test. */
export async function startServer(...args: Parameters<typeof RawServer.start>): Promise<RawServer> {
  const server = await RawServer.start(...args);
  onTestFinished(() => server.stop());
  return server;
}

/** A server that answers each request with these bytes. */
export const serving = (bytes: string | Buffer): Promise<RawServer> =>
  startServer(({ socket }) => socket.write(bytes));

/** A client that lives as long as the test. */
export function openClient(
  baseUrl: string,
  options: Partial<HttpOriginOptions> = {},
): PlatformClient {
  const client = openPlatform(baseUrl, TOKEN, options);
  onTestFinished(() => client.close());
  return client;
}

export function fetchDay(
  client: PlatformClient,
  signal: AbortSignal = new AbortController().signal,
): Promise<ConciliationResponse> {
  return client.fetchTitles(DAY, signal);
}

export async function readAll(response: ConciliationResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.chunks) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The text of a whole day's answer. */
export async function fetchText(client: PlatformClient): Promise<string> {
  return (await readAll(await fetchDay(client))).toString();
}

/** The error that refused `work`. */
export async function failureOf(work: Promise<unknown>): Promise<ConciliationError> {
  const outcome = await work.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  return outcome as ConciliationError;
}
