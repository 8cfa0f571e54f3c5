// How long each SQL statement takes, as the process that waits for it sees it.
import { EventEmitter } from 'node:events';
import pg from 'pg';

/** @typedef {{ statement: string, count: number, ms: number }} StatementTime */

/**
 * From now on, times every statement of this process.
 *
 * @returns {() => StatementTime[]} the longest first
 */
export function recordStatements() {
  /** @type {Map<string, StatementTime>} */
  const times = new Map();
  const { query } = pg.Client.prototype;

  /**
   * @this {pg.Client}
   * @param {string | { text: string }} config
   * @param {unknown[]} rest
   */
  function timedQuery(config, ...rest) {
    const text = typeof config === 'string' ? config : config.text;
    const startMs = performance.now();
    const note = () => {
      const entry = times.get(text) ?? { statement: toLabel(text), count: 0, ms: 0 };
      times.set(text, {
        ...entry,
        count: entry.count + 1,
        ms: entry.ms + performance.now() - startMs,
      });
    };
    const callback = rest.at(-1);
    if (typeof callback === 'function') {
      rest[rest.length - 1] = (/** @type {unknown[]} */ ...outcome) => {
        note();
        callback(...outcome);
      };
    }
    const result = Reflect.apply(query, this, [config, ...rest]);
    // A COPY is a stream, everything else a promise, unless there was a callback.
    if (config instanceof EventEmitter) config.once('close', note);
    else if (typeof callback !== 'function') result.then(note, note);
    return result;
  }
  Object.assign(pg.Client.prototype, { query: timedQuery });
  return () => [...times.values()].sort((one, other) => other.ms - one.ms);
}

/**
 * The table that is written, where the statement does not begin with it, and the statement's beginning.
 *
 * @param {string} text
 */
function toLabel(text) {
  const flat = text.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim();
  const target = /(?:INSERT INTO|UPDATE|DELETE FROM) conciliation\.\w+/.exec(flat);
  const beginning = flat.slice(0, 70);
  return target === null || target.index === 0 ? beginning : `${target[0]}: ${beginning}`;
}
