/**
 * The points at which tests (test/faults) can stop a pull, by name. In every other process no hook
 * is installed, nothing in src/ can install one, and a point costs one comparison.
 */

export const FAULT_POINTS = [
  'enqueue',
  'claim',
  'before-request',
  'headers',
  'mid-body',
  'before-closing-bracket',
  'mid-copy',
  'copy-done',
  'verify',
  'merge',
  'applied',
  'closing',
  'before-commit',
  // After COMMIT was sent and before its answer is read, where no code of src/ runs. The tests find
  // this point on the connection itself, after `before-commit`.
  'commit-reply-lost',
  'before-acknowledge',
  'shutdown',
  'migration',
] as const;

export type FaultPoint = (typeof FAULT_POINTS)[number];

let hook: ((point: FaultPoint) => void) | undefined;

/**
 * Only for test/faults. Its processes load the hook from dist/ before the service.
 * @public
 */
export function installFaultHook(next: (point: FaultPoint) => void): void {
  hook = next;
}

export function reachFaultPoint(point: FaultPoint): void {
  hook?.(point);
}
