import { expect, test } from 'vitest';
import { PULL_STATES, statesBefore } from '../../../src/core/ledger/pull-state.ts';

test('a pull can be claimed while it waits or runs, and never again once it has ended', () => {
  expect(statesBefore('running')).toEqual(['queued', 'running']);
});

test('only a running or held pull ends in a merge', () => {
  expect(statesBefore('merged')).toEqual(['running', 'held']);
  expect(statesBefore('failed')).toEqual(['running']);
});

test('every state but the first can be reached', () => {
  const reachable = PULL_STATES.filter((state) => statesBefore(state).length > 0);
  expect(reachable).toEqual(PULL_STATES);
});
