// How long each SQL statement takes, as the process that waits for it sees it.
import pg from 'pg';

/**
 * From now on, times every statement of this process.
 *
 * @returns {() => { statement: string, count: number, ms: number }[]} the longest first
 */
export function recordStatements() {
  const times = new Map();
  const { query } = pg.Client.prototype;

  pg.Client.prototype.query = function timedQuery(config, ...rest) {
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
      rest[rest.length - 1] = (...outcome) => {
        note();
        callback(...outcome);
      };
    }
    const result = query.call(this, config, ...rest);
    // A COPY is a stream, everything else a promise, unless there was a callback.
    if (typeof config.submit === 'function') config.once('close', note);
    else if (typeof callback !== 'function') result.then(note, note);
    return result;
  };
  return () => [...times.values()].sort((one, other) => other.ms - one.ms);
}

/** What is written, where it is not what the statement begins with, and the statement's beginning. */
function toLabel(text) {
  const flat = text.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim();
  const target = /(?:INSERT INTO|UPDATE|DELETE FROM) conciliation\.\w+/.exec(flat);
  const beginning = flat.slice(0, 70);
  return target === null || target.index === 0 ? beginning : `${target[0]}: ${beginning}`;
}
