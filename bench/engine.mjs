// The product as a measured process uses it, put together by the composition root as the service is.
import { openPlatform, openPulls, openStaging } from '#dist/app/parts.js';
import { readConfig } from '#dist/config/config.js';
import { createPull } from '#dist/ledger/pull-ledger.sql.js';
import { runPull } from '#dist/pull/run-pull.js';
import { createLogger } from '#dist/runtime/logger.js';

/** @import { CivilDate } from '#dist/domain/business-day.js' */

/**
 * @typedef {object} EngineOptions
 * @property {{ baseUrl: string, token: string }} address of the platform
 * @property {string} databaseUrl
 * @property {CivilDate} startDate of the ledger, which counts where the database has none
 * @property {CivilDate} today
 *
 * @typedef {Awaited<ReturnType<typeof openEngine>>} Engine
 */

const logger = createLogger({ logLevel: 'error' });

/** @param {EngineOptions} options */
export async function openEngine({ address, databaseUrl, startDate, today }) {
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

/**
 * @param {Engine['parts']} parts
 * @param {CivilDate} date
 */
export async function pullOnce(parts, date) {
  const pullId = await createPull(parts.database, { origin: 'daily', date, requestedBy: 'bench' });
  const outcome = await runPull(parts, pullId, new AbortController().signal);
  if (outcome.kind !== 'done') throw outcome.error;
  return outcome.report;
}
