/**
 * What keeps a process of the service from its work. Only the process itself can tell, so it reports
 * the fault to the table `process_fault`, from which the alerts are derived.
 */
const PROCESS_FAULTS = ['token_refused', 'token_unusable', 'clock_skew'] as const;
export type ProcessFault = (typeof PROCESS_FAULTS)[number];

/** After this long without a report a process has ended, or will report again when it goes on. */
export const PROCESS_SILENCE_MS = 3 * 60_000;
