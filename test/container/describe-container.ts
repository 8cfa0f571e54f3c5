import { describe, inject } from 'vitest';

/** Tests that need a container engine; without one they are skipped, and the name says why. */
export function describeContainer(name: string, tests: () => void): void {
  const fault = inject('engineFault');
  if (fault === null) describe(name, tests);
  else describe.skip(`${name}, skipped: ${fault}`, tests);
}
