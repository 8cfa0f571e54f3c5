// The product as a measured process uses it, put together by the composition root as the service is.
import { openPlatform, openPulls, openStaging } from '../dist/app/parts.js';
import { readConfig } from '../dist/config/config.js';
import { createPull } from '../dist/ledger/pull-ledger.js';
import { runPull } from '../dist/pull/run-pull.js';
import { createLogger } from '../dist/runtime/logger.js';

const logger = createLogger({ logLevel: 'error', logFormat: 'json' });

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

export async function pullOnce(parts, date) {
  const pull = { origin: 'daily', date, requestedBy: 'bench' };
  const pullId = await createPull(parts.database, pull);
  const outcome = await runPull(parts, pullId, new AbortController().signal);
  if (outcome.kind !== 'done') throw outcome.error;
  return outcome.report;
}
