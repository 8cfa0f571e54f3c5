import { readClock } from '../../base/database/clock.ts';
import { describeError } from '../../base/runtime/logger.ts';
import { loop } from '../../base/runtime/loop.ts';
import type { AlertPolicy } from '../../console/alert-entry.ts';
import { type DeliveryParts, deliverAlerts, settleAll } from './deliver-alerts.ts';
import { deriveAlerts } from './derive-alerts.sql.ts';
import { type DigestParts, deliverDigest } from './digest.sql.ts';

export interface AlertLoop {
  /** Starts no further round and cuts the running one short. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 60_000;

/** Compares the ledger with the open alerts at once and then every minute, and delivers alerts and digests. */
export function startAlertLoop(
  parts: DeliveryParts & {
    readonly policy: AlertPolicy;
    readonly digest: Pick<DigestParts, 'channels' | 'slotAt'>;
    readonly intervalMs?: number;
  },
): AlertLoop {
  const abort = new AbortController();

  const round = async () => {
    try {
      const now = await readClock(parts.database);
      await deriveAlerts(parts.database, now, parts.policy);
      await deriveAlerts(parts.database, now, parts.policy, 'providers').catch((error: unknown) => {
        parts.logger.warn(
          { err: describeError(error) },
          'alerts about providers wait for the next round',
        );
      });
      await settleAll([
        deliverAlerts(parts, abort.signal),
        deliverDigest({ ...parts, ...parts.digest }, abort.signal),
      ]);
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
