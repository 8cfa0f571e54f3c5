import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { environmentOf, startCommand } from '../../support/child-command.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';

const TITLES = 100_000;
const LIMIT_MEGABYTES = 200;

const world = worldOfFile();

/** The most memory that the process has had resident so far; null once it is gone. */
function peakMegabytes(pid: number): number | null {
  const file = `/proc/${pid}/status`;
  const peak = existsSync(file) ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(file, 'utf8')) : null;
  return peak === null ? null : Number(peak[1]) / 1024;
}

// Other systems do not report the peak of another process.
test.runIf(process.platform === 'linux')(
  `a pull of ${TITLES} titles takes less than ${LIMIT_MEGABYTES} MB of memory`,
  async () => {
    world.sandbox.setDaySize(DAY, TITLES);
    const child = startCommand(['pull', DAY, '--json'], environmentOf(world));
    let isRunning = true;
    void child.ended.finally(() => {
      isRunning = false;
    });
    let peak = 0;
    while (isRunning) {
      peak = Math.max(peak, peakMegabytes(child.pid) ?? 0);
      await sleep(20);
    }

    const { exit, stdout } = await child.ended;
    expect(exit).toBe(0);
    const { titles, dates } = JSON.parse(stdout);
    // Those that the sandbox withdraws with age are not among them.
    expect(titles).toBeGreaterThan(0.95 * TITLES);
    expect(dates).toMatchObject([{ inserted: titles }]);
    // Less would mean that the process was not looked at.
    expect(peak).toBeGreaterThan(30);
    expect(peak).toBeLessThan(LIMIT_MEGABYTES);
  },
);
