// One measured sweep, or one reading of its answer, in a process of its own.
import { openPlatform, openPulls, openStaging } from '../dist/app.js';
import { readConfig } from '../dist/config.js';
import { KnownTitles } from '../dist/domain/known-titles.js';
import { sweepWindow } from '../dist/domain/pull-plan.js';
import { createLogger } from '../dist/logger.js';
import { readRows } from '../dist/pull/response-rows.js';
import { runPull } from '../dist/pull/run-pull.js';
import { createPull } from '../dist/staging/pull-ledger.js';
import { createSweep } from '../dist/staging/sweep-ledger.js';
import { runSweep } from '../dist/sweep/run-sweep.js';
import { answerParent } from './child.mjs';
import { startMeter } from './meter.mjs';

const logger = createLogger({ logLevel: 'error', logFormat: 'json' });

let staging;
let platform;
let parts;
let today;

answerParent({
  async open({ address, databaseUrl, startDate, today: day }) {
    const environment = {
      DATABASE_URL: databaseUrl,
      PLATFORM_BASE_URL: address.baseUrl,
      PLATFORM_TOKEN: address.token,
      START_DATE: startDate,
    };
    const config = readConfig(environment, { platform: true });
    today = day;
    staging = await openStaging(config, logger);
    platform = openPlatform(config);
    const opened = await openPulls(config, logger, staging, platform);
    parts = { ...opened, now: () => new Date(`${day}T12:00:00Z`) };
  },

  async load({ dates }) {
    for (const date of dates) {
      const pull = { origin: 'daily', date, requestedBy: 'bench' };
      const pullId = await createPull(parts.database, pull);
      const outcome = await runPull(parts, pullId, new AbortController().signal);
      if (outcome.kind !== 'done') throw outcome.error;
    }
  },

  async sweep({ from }) {
    const meter = startMeter();
    const sweepId = await createSweep(parts.database, { from, today, requestedBy: 'bench' });
    const outcome = await runSweep(parts, sweepId, new AbortController().signal);
    const measured = await meter.stop();
    if (outcome.kind !== 'done') throw outcome.error;
    const { titles, differences } = outcome.report;
    if (differences.length > 0) throw new Error(`${differences.length} dates differ`);
    return { ...measured, titles };
  },

  async read({ from }) {
    const meter = startMeter();
    const response = await platform.fetchTitles(sweepWindow(from), new AbortController().signal);
    const { rows, count, release } = readRows(response, {
      target: { table: 'staged_title', fence: 1n },
      window: sweepWindow(from),
      known: new KnownTitles(0),
      putAside: () => Promise.reject(new Error('a title was rejected')),
    });
    let bytes = 0;
    for await (const row of rows) bytes += row.length;
    const titles = count().accepted;
    release();
    const measured = await meter.stop();
    if (bytes === 0) throw new Error('no row was read');
    return { ...measured, titles };
  },

  async close() {
    await platform.close();
    await staging.close();
  },
});
