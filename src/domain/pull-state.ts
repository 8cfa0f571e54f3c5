/** What a pull can be; the row in `conciliation.pull` is the truth, whatever the queue says. */
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
 * Every legal step. `running` to `running` is a takeover: the first worker stalled, a second one drew
 * a higher fence. `held` to `merged` is a person's release.
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
  held: ['merged', 'unchanged', 'superseded', 'cancelled'],
  merged: [],
  unchanged: [],
  superseded: [],
  failed: [],
  cancelled: [],
};

/** The states from which `state` may be entered; statements that change a pull name them. */
export function statesBefore(state: PullState): PullState[] {
  return PULL_STATES.filter((from) => STEPS[from].includes(state));
}
