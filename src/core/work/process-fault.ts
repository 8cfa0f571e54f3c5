/**
 * The faults that keep a process of the service from its work. The process reports them to the
 * table `process_fault`, from which alerts are derived.
 */
const PROCESS_FAULTS = [
  'token_refused',
  'token_unusable',
  'clock_skew',
  'planning_failed',
  'work_unrecorded',
] as const;
export type ProcessFault = (typeof PROCESS_FAULTS)[number];

/** After this time without a report, in milliseconds, a process has ended or is suspended. */
export const PROCESS_SILENCE_MS = 3 * 60_000;
