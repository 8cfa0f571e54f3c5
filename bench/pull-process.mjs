// Our side in a process of its own.
import { answerParent } from './child.mjs';
import { openEngine, pullOnce } from './engine.mjs';
import { startMeter } from './meter.mjs';
import { recordStatements } from './statement-times.mjs';

/**
 * @import { PullReport } from '#dist/pull/merge/merge.sql.js'
 * @import { Engine, EngineOptions } from './engine.mjs'
 * @import { RenderedRequest } from './render-process.mjs'
 * @import { StatementTime } from './statement-times.mjs'
 */

/** @type {Engine | null} */
let target = null;
/** @type {() => StatementTime[] | null} */
let readStatements = () => null;

/**
 * @typedef {EngineOptions & {
 *   warmUp: { databaseUrl: string, window: RenderedRequest['window'] },
 *   profile: boolean,
 * }} OpenOptions
 */

const handlers = {
  /**
   * The service has been running for days when a pull begins, so its code is warm: a small pull goes
   * into a database of its own first.
   *
   * @param {OpenOptions} options
   */
  async open({ address, databaseUrl, warmUp, startDate, today, profile }) {
    const warm = await openEngine({ address, databaseUrl: warmUp.databaseUrl, startDate, today });
    await pullOnce(warm.parts, warmUp.window.from);
    await warm.close();
    target = await openEngine({ address, databaseUrl, startDate, today });
    if (profile) readStatements = recordStatements();
  },

  /** @param {{ requests: RenderedRequest[], pullsAtOnce: number }} options */
  async run({ requests, pullsAtOnce }) {
    if (target === null) throw new Error('run before open');
    const { parts } = target;
    const meter = startMeter();
    /** @type {PullReport[]} */
    const reports = [];
    const waiting = requests.values();
    const pullAll = async () => {
      for (const { window } of waiting) reports.push(await pullOnce(parts, window.from));
    };
    await Promise.all(Array.from({ length: pullsAtOnce }, pullAll));
    const measured = await meter.stop();
    return { ...measured, ...summarise(reports), statements: readStatements() };
  },
  async close() {
    await target?.close();
  },
};
/** @typedef {typeof handlers} Handlers */
/** @typedef {ReturnType<typeof summarise>} PullCounts */

answerParent(handlers);

/** @param {PullReport[]} reports */
function summarise(reports) {
  /** @typedef {'titles' | 'rejected' | 'inserted' | 'changed' | 'withdrawn' | 'restored' | 'unchanged'} Count */
  const sum = (/** @type {Count} */ field) =>
    reports.reduce((total, report) => total + report[field], 0);
  return {
    titles: sum('titles'),
    rejected: sum('rejected'),
    inserted: sum('inserted'),
    changed: sum('changed'),
    withdrawn: sum('withdrawn'),
    restored: sum('restored'),
    unchanged: sum('unchanged'),
    outcomes: [...new Set(reports.map(({ state }) => state))],
  };
}
