// The clock of a measured process, and what only that process can tell about itself.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often the event loop is asked whether it still turns. Part of every delay that it reports. */
const RESOLUTION_MS = 5;

/** @typedef {Awaited<ReturnType<ReturnType<typeof startMeter>['stop']>>} MeterReading */

export function startMeter() {
  const loopDelay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const cpuStart = process.cpuUsage();
  const startNs = process.hrtime.bigint();
  loopDelay.enable();
  return {
    async stop() {
      const endNs = process.hrtime.bigint();
      const cpu = process.cpuUsage(cpuStart);
      // A stall is only noted by the turn that follows it.
      await sleep(2 * RESOLUTION_MS);
      loopDelay.disable();
      return {
        elapsedMs: Number(endNs - startNs) / 1e6,
        workerCpuSeconds: (cpu.user + cpu.system) / 1e6,
        peakMemoryBytes: peakMemoryBytes(),
        longestStallMs: loopDelay.max / 1e6,
        /** On the clock of V8's CPU profiles. */
        window: { fromUs: Number(startNs / 1000n), toUs: Number(endNs / 1000n) },
      };
    },
  };
}

/**
 * Of this process since it started. `resourceUsage` is the second choice: what a process was before
 * it became Node, a copy of its parent, counts there.
 */
function peakMemoryBytes() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}
