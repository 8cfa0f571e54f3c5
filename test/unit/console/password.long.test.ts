import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { hashPassword } from '../../../src/console/access/password.ts';

/** A thread that needs this time for each password, as on a machine whose processors are all in use. */
const HASH_MS = 1_500;

vi.mock('node:worker_threads', () => ({
  Worker: class extends EventEmitter {
    postMessage(): void {
      setTimeout(() => this.emit('message', 'the hash'), HASH_MS);
    }
    async terminate(): Promise<void> {
      this.emit('exit', 1);
    }
  },
}));

test('a password waits for the slow hash of another password, and the pause after it is short', async () => {
  const hashes = [hashPassword('quatro palavras'), hashPassword('ao acaso')];
  expect(await Promise.all(hashes)).toEqual(['the hash', 'the hash']);
});
