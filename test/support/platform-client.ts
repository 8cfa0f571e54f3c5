import { createPlatformClient } from '../../src/core/platform/conciliation-client.ts';
import type { HttpOriginOptions } from '../../src/core/platform/http-origin.ts';
import { fixedToken, type TokenSource } from '../../src/core/platform/token.ts';

/** A client of the platform at `baseUrl`. */
export const openPlatform = (
  baseUrl: string,
  token: string | TokenSource,
  options: Partial<HttpOriginOptions> = {},
) =>
  createPlatformClient({
    baseUrl: new URL(baseUrl),
    token: typeof token === 'string' ? fixedToken(token) : token,
    concurrency: 4,
    timeoutMs: 10_000,
    userAgent: 'test/1',
    ...options,
  });
