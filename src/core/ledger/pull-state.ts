/** The states of a pull. The row in `conciliation.pull` decides, not the queue. */
export const PULL_STATES = [
  'queued',
  'running',
  'merged',
  'unchanged',
  'held',
  'superseded',
  'failed',
  'cancelled',
] as const;
export type PullState = (typeof PULL_STATES)[number];

/**
 * The allowed steps. `running` to `running` is a takeover: the first worker stalled, and a second
 * one took a higher fence. `held` to `merged` is a release by a person.
 */
const STEPS: Readonly<Record<PullState, readonly PullState[]>> = {
  queued: ['running', 'cancelled'],
  running: [
    'running',
    'queued',
    'merged',
    'unchanged',
    'held',
    'superseded',
    'failed',
    'cancelled',
  ],
  held: ['merged', 'unchanged', 'superseded'],
  merged: [],
  unchanged: [],
  superseded: [],
  failed: [],
  cancelled: [],
};

/** Returns the states from which `state` may be entered, for statements that change a pull. */
export function statesBefore(state: PullState): PullState[] {
  return PULL_STATES.filter((from) => STEPS[from].includes(state));
}
