/**
 * The image, built once for all container tests. Where no engine answers they are skipped, and the
 * name of each suite says so; where one answers, an image that cannot be built is a failure.
 */
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { outputOf, runProgram } from './program.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Why no container can be run here; null where they can. */
    engineFault: string | null;
  }
}

export const IMAGE = 'erp-conciliation-sync:test';

const ROOT = join(import.meta.dirname, '../..');

const ENGINE_ANSWER_MS = 15_000;

export async function setup(project: TestProject): Promise<void> {
  const fault = await findEngineFault();
  project.provide('engineFault', fault);
  if (fault !== null) {
    process.stderr.write(`The container tests are skipped: ${fault}\n`);
    return;
  }
  // Its reaper is one more image to pull, and gets the engine's socket; our tests tidy up themselves.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  process.stderr.write('Building the image for the container tests …\n');
  await outputOf('docker', ['build', '--tag', IMAGE, ROOT]);
}

async function findEngineFault(): Promise<string | null> {
  try {
    const { exit, stderr } = await runProgram('docker', ['version'], {
      timeoutMs: ENGINE_ANSWER_MS,
    });
    if (exit === 0) return null;
    return stderr.trim().split('\n').at(-1) || 'docker does not answer';
  } catch {
    return 'there is no docker command';
  }
}
