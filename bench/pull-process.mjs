// Our side in a process of its own, put together by the composition root as the service is.
import { openPlatform, openPulls, openStaging } from '../dist/app.js';
import { readConfig } from '../dist/config.js';
import { createLogger } from '../dist/logger.js';
import { runPull } from '../dist/pull/run-pull.js';
import { createPull } from '../dist/staging/pull-ledger.js';
import { answerParent } from './child.mjs';
import { startMeter } from './meter.mjs';
import { recordStatements } from './statement-times.mjs';

const logger = createLogger({ logLevel: 'error', logFormat: 'json' });

let target;
let readStatements = () => null;

answerParent({
  /**
   * The service has been running for days when a pull begins, so its code is warm: a small pull goes
   * into a database of its own first.
   */
  async open({ address, databaseUrl, warmUp, startDate, today, profile }) {
    const warm = await openEngine({ address, databaseUrl: warmUp.databaseUrl, startDate, today });
    await pullOnce(warm.parts, warmUp.window);
    await warm.close();
    target = await openEngine({ address, databaseUrl, startDate, today });
    if (profile) readStatements = recordStatements();
  },

  async run({ requests, pullsAtOnce }) {
    const meter = startMeter();
    const reports = [];
    const waiting = requests.values();
    const pullAll = async () => {
      for (const { window } of waiting) reports.push(await pullOnce(target.parts, window));
    };
    await Promise.all(Array.from({ length: pullsAtOnce }, pullAll));
    const measured = await meter.stop();
    return { ...measured, ...summarise(reports), statements: readStatements() };
  },
  async close() {
    await target.close();
  },
});

async function openEngine({ address, databaseUrl, startDate, today }) {
  const environment = {
    DATABASE_URL: databaseUrl,
    PLATFORM_BASE_URL: address.baseUrl,
    PLATFORM_TOKEN: address.token,
    START_DATE: startDate,
  };
  const config = readConfig(environment, { platform: true });
  const staging = await openStaging(config, logger);
  const platform = openPlatform(config);
  const parts = await openPulls(config, logger, staging, platform);
  return {
    parts: { ...parts, now: () => new Date(`${today}T12:00:00Z`) },
    async close() {
      await platform.close();
      await staging.close();
    },
  };
}

async function pullOnce(parts, window) {
  const pull = { origin: 'daily', date: window.from, requestedBy: 'bench' };
  const pullId = await createPull(parts.database, pull);
  const outcome = await runPull(parts, pullId, new AbortController().signal);
  if (outcome.kind !== 'done') throw outcome.error;
  return outcome.report;
}

function summarise(reports) {
  const sum = (items, field) => items.reduce((total, item) => total + item[field], 0);
  const changes = ['inserted', 'changed', 'withdrawn', 'restored', 'unchanged'];
  return {
    titles: sum(reports, 'titles'),
    rejected: sum(reports, 'rejected'),
    ...Object.fromEntries(changes.map((field) => [field, sum(reports, field)])),
    outcomes: [...new Set(reports.map(({ state }) => state))],
  };
}
