import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of the program of this name on the PATH, or null. */
export function findProgram(name: string): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const program = join(folder, name);
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/** Runs a program to its end. `output` has both of its outputs. */
export function runProgram(
  program: string,
  parameters: readonly string[],
  input = '',
): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr, error } = spawnSync(program, parameters, {
    input,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return { status, output: stdout + stderr };
}
