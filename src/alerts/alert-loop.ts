import { readClock } from '../database/clock.ts';
import type { Database } from '../database/database.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import { loop } from '../runtime/loop.ts';
import { deliverAlerts } from './deliver-alerts.ts';
import { type AlertPolicy, deriveAlerts } from './derive-alerts.sql.ts';
import { deriveProviderAlerts } from './provider-alerts.sql.ts';
import type { WebhookSecret } from './webhook-signature.ts';

export interface AlertLoop {
  /** Starts no further round and cuts the running one short. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 60_000;

/** Compares the ledger with the open alerts at once and then every minute, and delivers new alerts. */
export function startAlertLoop(parts: {
  readonly database: Database;
  readonly logger: Logger;
  readonly webhookUrl: URL | null;
  readonly webhookSecret: WebhookSecret | null;
  readonly policy: AlertPolicy;
  readonly intervalMs?: number;
}): AlertLoop {
  const abort = new AbortController();

  const round = async () => {
    try {
      await deriveAlerts(parts.database, await readClock(parts.database), parts.policy);
      await deriveProviderAlerts(parts.database, parts.policy.timeZone).catch((error: unknown) => {
        parts.logger.warn(
          { err: describeError(error) },
          'alerts about providers wait for the next round',
        );
      });
      await deliverAlerts(parts, abort.signal);
    } catch (error) {
      parts.logger.warn({ err: describeError(error) }, 'alerts wait for the next round');
    }
  };
  const rounds = loop({ everyMs: parts.intervalMs ?? INTERVAL_MS, run: round });
  return {
    stop() {
      abort.abort();
      return rounds.stop();
    },
  };
}
