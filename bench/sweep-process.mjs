// One measured sweep, or one reading of its answer, in a process of its own.
import { KnownTitles } from '#dist/domain/known-titles.js';
import { sweepWindow } from '#dist/domain/plan/pull-plan.js';
import { ResponseReader } from '#dist/reader/response-reader.js';
import { runSweep } from '#dist/sweep/run-sweep.js';
import { answerParent } from './child.mjs';
import { openEngine, pullOnce } from './engine.mjs';
import { startMeter } from './meter.mjs';

/** @import { CivilDate } from '#dist/domain/business-day.js' */
/** @import { Engine, EngineOptions } from './engine.mjs' */

/** @type {{ engine: Engine, today: CivilDate } | null} */
let opened = null;

function requireOpened() {
  if (opened === null) throw new Error('the engine is not open');
  return { parts: opened.engine.parts, today: opened.today };
}

const handlers = {
  /** @param {EngineOptions} options */
  async open(options) {
    opened = { engine: await openEngine(options), today: options.today };
  },

  /** @param {{ dates: CivilDate[] }} options */
  async load({ dates }) {
    const { parts } = requireOpened();
    for (const date of dates) await pullOnce(parts, date);
  },

  /** @param {{ from: CivilDate }} options */
  async sweep({ from }) {
    const { parts } = requireOpened();
    const meter = startMeter();
    const data = { fromDate: from, requestedBy: 'bench' };
    const { id: sweepId } = await parts.database.prisma.sweep.create({ data });
    const outcome = await runSweep(parts, sweepId, new AbortController().signal);
    const measured = await meter.stop();
    if (outcome.kind !== 'done') throw outcome.error;
    const { titles, differences } = outcome.report;
    if (differences.length > 0) throw new Error(`${differences.length} dates differ`);
    return { ...measured, titles };
  },

  /** @param {{ from: CivilDate }} options */
  async read({ from }) {
    const { platform } = requireOpened().parts;
    const meter = startMeter();
    const response = await platform.fetchTitles(sweepWindow(from), new AbortController().signal);
    const reader = new ResponseReader(response, {
      target: { table: 'staged_title', fence: 1n },
      window: sweepWindow(from),
      known: new KnownTitles(0),
    });
    let bytes = 0;
    for await (const { rows } of reader.read()) for (const row of rows) bytes += row.length;
    const { accepted: titles, rejected } = reader.result;
    if (rejected > 0) throw new Error('a title was rejected');
    reader.release();
    const measured = await meter.stop();
    if (bytes === 0) throw new Error('no row was read');
    return { ...measured, titles };
  },

  async close() {
    await opened?.engine.close();
  },
};
/** @typedef {typeof handlers} Handlers */

answerParent(handlers);
