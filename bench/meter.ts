/** The clock of a measured process, and what only that process can tell about itself. */
import { readFileSync } from 'node:fs';

export interface MeterReading {
  readonly elapsedMs: number;
  readonly workerCpuSeconds: number;
  readonly peakMemoryBytes: number;
}

/** Starts the clock; the function that is returned reads it. */
export function startMeter(): () => MeterReading {
  const cpuStart = process.cpuUsage();
  const startMs = performance.now();
  return () => {
    const elapsedMs = performance.now() - startMs;
    const { user, system } = process.cpuUsage(cpuStart);
    const workerCpuSeconds = (user + system) / 1e6;
    return { elapsedMs, workerCpuSeconds, peakMemoryBytes: peakMemoryBytes() };
  };
}

/**
 * Of this process since it started. `resourceUsage` is the second choice: what a process was before
 * it became Node, a copy of its parent, counts there.
 */
export function peakMemoryBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}
