import { readClock } from '../../base/database/clock.ts';
import { describeError } from '../../base/runtime/logger.ts';
import { type Loop, loop } from '../../base/runtime/loop.ts';
import { type DeliveryParts, deliverMessages } from './deliveries.sql.ts';
import { deriveAlerts } from './derive-alerts.sql.ts';

const INTERVAL_MS = 60_000;

/** Compares the ledger with the open alerts at once and then every minute, and delivers alerts and digests. */
export function startAlertLoop(parts: DeliveryParts & { readonly intervalMs?: number }): Loop {
  const { database, logger, policy, intervalMs = INTERVAL_MS } = parts;
  return loop({
    everyMs: intervalMs,
    run: async (signal) => {
      const now = await readClock(database);
      await deriveAlerts(database, now, policy);
      await deriveAlerts(database, now, policy, 'providers').catch((error: unknown) => {
        logger.warn(
          { err: describeError(error) },
          'alerts about providers wait for the next round',
        );
      });
      await deliverMessages(parts, signal);
    },
    failure: { logger, message: 'alerts wait for the next round' },
  });
}
