import { expect, test } from 'vitest';
import { fuzz } from './fuzz.ts';

/** `npm run fuzz -- --runs 10000000 --seed 7` tries as many as wanted. */
const RUNS = 50_000;
const SEED = '1';

test(`no difference among ${RUNS} answers of seed ${SEED}`, { timeout: 0 }, () => {
  const { refused, accepted, rejected } = fuzz(RUNS, SEED);
  // Of no use if mutation only ever broke the frame, or never did.
  expect(refused).toBeGreaterThan(RUNS / 10);
  expect(accepted).toBeGreaterThan(RUNS / 10);
  expect(rejected).toBeGreaterThan(RUNS / 20);
});
