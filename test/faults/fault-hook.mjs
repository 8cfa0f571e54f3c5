// Loaded into a process of the service before the service: node --import …/fault-hook.mjs …
// It reports each fault point to the harness when the point is first reached, and at the planned point it halts
// the whole process until the harness has done to it what it wants to do.
import { existsSync, readSync, writeSync } from 'node:fs';
import pg from 'pg';
import { installFaultHook } from '#dist/base/runtime/fault-points.js';

/** A pipe to the harness, both ways. */
const CHANNEL = 3;
/** @import { FaultPoint } from '#dist/base/runtime/fault-points.js' */

/**
 * @typedef {object} FaultPlan
 * @property {FaultPoint} point
 * @property {number} hit from 1
 * @property {string} armFile hits count once the file exists
 */

/** @type {FaultPlan | null} null: the process only reports the points that it reaches */
const plan = JSON.parse(process.env['FAULT_PLAN'] ?? 'null');
delete process.env['FAULT_PLAN'];

/** @type {Set<FaultPoint>} */
const seen = new Set();
let hits = 0;
let done = false;

/**
 * Returns whether the fault was here.
 *
 * @param {FaultPoint} point
 * @param {object} details
 */
function reach(point, details = {}) {
  if (!seen.has(point)) {
    seen.add(point);
    tell({ point, fired: false });
  }
  if (done || plan === null || plan.point !== point || !existsSync(plan.armFile)) return false;
  hits += 1;
  if (hits < plan.hit) return false;
  done = true;
  tell({ point, fired: true, ...details });
  readSync(CHANNEL, Buffer.alloc(1));
  return true;
}

/** @param {object} event */
function tell(event) {
  writeSync(CHANNEL, `${JSON.stringify(event)}\n`);
}

installFaultHook((point) => void reach(point));

// Only the connection knows when COMMIT is on its way. Of all transactions it is the merge's that
// writes whether the date was over.
const { query } = pg.Client.prototype;
/** @type {WeakSet<pg.Client>} */
const merging = new WeakSet();
/**
 * @this {pg.Client & { processID: number, connection: pg.Connection }}
 * @param {string | { text?: string }} config
 * @param {unknown[]} rest
 */
function queryWithFault(config, ...rest) {
  const text = typeof config === 'string' ? config : config?.text;
  if (text?.includes('date_was_closed = ')) merging.add(this);
  const isCommit = text === 'COMMIT' && merging.delete(this);
  const result = Reflect.apply(query, this, [config, ...rest]);
  // The harness halts us until the server has committed; its answer waits in the socket, unread.
  if (isCommit && reach('commit-reply-lost', { sessionPid: this.processID })) {
    this.connection.stream.destroy();
  }
  return result;
}
Object.assign(pg.Client.prototype, { query: queryWithFault });
