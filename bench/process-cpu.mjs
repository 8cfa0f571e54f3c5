// CPU time of a process and its children, from Linux's /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts for everybody in hundredths of a second, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100;

/**
 * CPU seconds that a process and all its children have used, also those that have ended; null where
 * there is no /proc. The time of a child that has ended is its parent's `cutime` and `cstime`.
 *
 * @param {number} pid
 * @returns {number | null}
 */
export function treeCpuSeconds(pid) {
  if (process.platform !== 'linux') return null;
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = readStat(name);
    if (fields === null) continue;
    if (name === String(pid)) ticks += sum(fields.slice(11, 15));
    else if (fields[1] === String(pid)) ticks += sum(fields.slice(11, 13));
  }
  return ticks / TICKS_PER_SECOND;
}

/**
 * The fields behind the name, from the state on; null for a process that has ended meanwhile.
 *
 * @param {string} pid
 */
function readStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** @param {string[]} fields */
function sum(fields) {
  return fields.reduce((total, field) => total + Number(field), 0);
}
