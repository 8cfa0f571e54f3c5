/** What a job says: ids only, because whoever may look at the queue may not look at titles. */
export interface PullJob {
  /** Decimal text, because JSON has no bigint. */
  readonly pullId: string;
}

export const QUEUE_NAME = 'pulls';
export const JOB_NAME = 'pull';

/** One id per pull, so that adding a second job has no effect. All digits are reserved to BullMQ. */
export function toJobId(pullId: bigint): string {
  return `pull-${pullId}`;
}

/** BullMQ's codes: the job is gone, its lock is gone or another's, or it is in another state. */
const REFUSAL_CODES: ReadonlySet<unknown> = new Set([-1, -2, -3, -6]);

/** Whether the queue answered that the job is no longer ours to change, as opposed to failing. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && REFUSAL_CODES.has(error.code);
}
