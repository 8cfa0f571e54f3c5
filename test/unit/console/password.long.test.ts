import type { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { hashPassword, verifyPassword } from '../../../src/console/access/password.ts';

/** Each password reaches its thread after this time, as on a machine whose processors are all in use. */
const DELAY_MS = 1_500;

vi.mock('node:worker_threads', async (importOriginal) => {
  const original = await importOriginal<{ Worker: typeof Worker }>();
  return {
    ...original,
    Worker: class extends original.Worker {
      override postMessage(message: unknown): void {
        setTimeout(() => super.postMessage(message), DELAY_MS);
      }
    },
  };
});

test('two passwords at the same time are hashed in less than the longest wait where each hash is slow', async () => {
  const [hash] = await Promise.all([hashPassword('quatro palavras'), hashPassword('ao acaso')]);
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword('quatro palavras', hash)).toBe(true);
});
