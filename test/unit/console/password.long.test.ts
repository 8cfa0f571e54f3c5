import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { hashPassword } from '../../../src/console/access/password.ts';

/** A thread that needs this time for each password, as on a machine whose processors are all in use. */
const HASH_MS = 1_500;

/** When each password was given to the thread. */
const starts = vi.hoisted((): number[] => []);

vi.mock('node:worker_threads', () => ({
  Worker: class extends EventEmitter {
    postMessage(): void {
      starts.push(performance.now());
      setTimeout(() => this.emit('message', 'the hash'), HASH_MS);
    }
    async terminate(): Promise<void> {
      this.emit('exit', 1);
    }
  },
}));

test('a password waits for the slow hash of another password and for a short pause', async () => {
  const hashes = [hashPassword('quatro palavras'), hashPassword('ao acaso')];
  expect(await Promise.all(hashes)).toEqual(['the hash', 'the hash']);
  const [first = 0, second = 0] = starts;
  expect(second - first).toBeGreaterThan(HASH_MS + 290);
});
