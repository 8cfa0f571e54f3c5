/** The payload of a job: only ids, because readers of the queue may not be allowed to read the tables. */
export type JobPayload = Readonly<Record<string, string>>;

/** A kind of jobs, with its own queue. Each `Key` has at most one job. */
export interface JobKind<Key> {
  readonly queueName: string;
  readonly jobName: string;
  /**
   * Returns one id per key, so that adding a second job has no effect. BullMQ reserves ids of digits only.
   */
  toJobId(key: Key): string;
  toPayload(key: Key): JobPayload;
  toKey(payload: JobPayload): Key;
}

/** One job per pull, with the id of its row. */
export const PULL_JOBS: JobKind<bigint> = {
  queueName: 'pulls',
  jobName: 'pull',
  toJobId: (pullId) => `pull-${pullId}`,
  // Decimal text, because JSON has no bigint.
  toPayload: (pullId) => ({ pullId: String(pullId) }),
  toKey: ({ pullId = '' }) => BigInt(pullId),
};

/** One job per sweep, with the id of its row. */
export const SWEEP_JOBS: JobKind<bigint> = {
  queueName: 'sweeps',
  jobName: 'sweep',
  toJobId: (sweepId) => `sweep-${sweepId}`,
  toPayload: (sweepId) => ({ sweepId: String(sweepId) }),
  toKey: ({ sweepId = '' }) => BigInt(sweepId),
};

/** The only key of pushes: one batch is active at a time. */
export type PushSubject = 'providers';

export const PUSH_JOBS: JobKind<PushSubject> = {
  queueName: 'pushes',
  jobName: 'push',
  toJobId: (subject) => `push-${subject}`,
  toPayload: (subject) => ({ subject }),
  toKey: () => 'providers',
};

/** BullMQ's codes: the job does not exist, its lock is lost, or it is in another state. */
const REFUSAL_CODES: ReadonlySet<unknown> = new Set([-1, -2, -3, -6]);

/** Whether the queue answered that this worker no longer owns the job. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && REFUSAL_CODES.has(error.code);
}
