/** What a job says: ids only, because whoever may look at the queue may not look at the tables. */
export type JobPayload = Readonly<Record<string, string>>;

/** What the jobs of one of BullMQ's queues are about. A `Key` has one job at most. */
export interface JobKind<Key> {
  readonly queueName: string;
  readonly jobName: string;
  /** One id per key, so that adding a second job has no effect. All digits are reserved to BullMQ. */
  toJobId(key: Key): string;
  toPayload(key: Key): JobPayload;
  toKey(payload: JobPayload): Key;
}

/** A job per pull, by the id of its row. */
export const PULL_JOBS: JobKind<bigint> = {
  queueName: 'pulls',
  jobName: 'pull',
  toJobId: (pullId) => `pull-${pullId}`,
  // Decimal text, because JSON has no bigint.
  toPayload: (pullId) => ({ pullId: String(pullId) }),
  toKey: ({ pullId = '' }) => BigInt(pullId),
};

/** A job per sweep, by the id of its row. */
export const SWEEP_JOBS: JobKind<bigint> = {
  queueName: 'sweeps',
  jobName: 'sweep',
  toJobId: (sweepId) => `sweep-${sweepId}`,
  toPayload: (sweepId) => ({ sweepId: String(sweepId) }),
  toKey: ({ sweepId = '' }) => BigInt(sweepId),
};

/** What is pushed: there is one batch under way at a time, so there is one job. */
export type PushSubject = 'providers';

export const PUSH_JOBS: JobKind<PushSubject> = {
  queueName: 'pushes',
  jobName: 'push',
  toJobId: (subject) => `push-${subject}`,
  toPayload: (subject) => ({ subject }),
  toKey: () => 'providers',
};

/** BullMQ's codes: the job is gone, its lock is gone or another's, or it is in another state. */
const REFUSAL_CODES: ReadonlySet<unknown> = new Set([-1, -2, -3, -6]);

/** Whether the queue answered that the job is no longer ours to change, as opposed to failing. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && REFUSAL_CODES.has(error.code);
}
