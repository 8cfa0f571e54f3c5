// For `node --import`: a process reports its greatest resident size, in megabytes, at its end.
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

function peakKilobytes() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS;
  // Linux counts the size of the parent at the fork as the child's own in maxRSS.
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
}

if (isMainThread) {
  process.on('exit', () => {
    process.stderr.write(`peak ${Math.round(peakKilobytes() / 1024)} MB\n`);
  });
}
