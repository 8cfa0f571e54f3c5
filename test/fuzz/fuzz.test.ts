import { expect, test } from 'vitest';
import { tryHistories } from '../support/random-runs.ts';
import { fuzz } from './fuzz.ts';

const INPUTS = 2_000;

test('no difference among random answers', { timeout: 0 }, async () => {
  const sums = { refused: 0, accepted: 0, rejected: 0 };
  const rounds = await tryHistories(5, async (seed) => {
    const { refused, accepted, rejected } = fuzz(INPUTS, String(seed));
    sums.refused += refused;
    sums.accepted += accepted;
    sums.rejected += rejected;
  });
  // Of no use if mutation only ever broke the frame, or never did.
  expect(sums.refused).toBeGreaterThan((rounds * INPUTS) / 10);
  expect(sums.accepted).toBeGreaterThan((rounds * INPUTS) / 10);
  expect(sums.rejected).toBeGreaterThan((rounds * INPUTS) / 20);
});
