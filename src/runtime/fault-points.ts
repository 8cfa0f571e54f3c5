/**
 * The places where a pull can die, by name, for the tests that make it die there (test/faults). In
 * every other process no hook is installed, nothing in src/ can install one, and reaching a place
 * costs a comparison.
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
  'revisions',
  'closing',
  'before-commit',
  // COMMIT was sent and its answer not read: no line of src/ stands there, so the tests find the place
  // on the connection itself, after `before-commit`.
  'commit-reply-lost',
  'before-acknowledge',
  'shutdown',
  'migration',
] as const;

export type FaultPoint = (typeof FAULT_POINTS)[number];

type FaultHook = (point: FaultPoint) => void;

let hook: FaultHook | undefined;

/**
 * For test/faults alone. Its processes load the hook from dist/ before the service.
 *
 * @public
 */
export function installFaultHook(next: FaultHook): void {
  hook = next;
}

export function reachFaultPoint(point: FaultPoint): void {
  if (hook !== undefined) hook(point);
}
