// Sets the clock of a process wrong: node --import <this file>, with CLOCK_SHIFT_FILE in the environment.
// The file holds by how many milliseconds, and may change while the process runs.
import { readFileSync } from 'node:fs';

const RealDate = Date;
const { CLOCK_SHIFT_FILE: shiftFile = '' } = process.env;
let shiftMs = 0;
let readAtMs = Number.NEGATIVE_INFINITY;

function now() {
  if (performance.now() - readAtMs > 50) {
    readAtMs = performance.now();
    shiftMs = Number(readFileSync(shiftFile, 'utf8'));
  }
  return RealDate.now() + shiftMs;
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});
