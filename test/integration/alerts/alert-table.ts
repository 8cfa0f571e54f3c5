import { expect } from 'vitest';
import { type Database, openDatabase } from '../../../src/base/database/database.ts';
import { takeLock } from '../../../src/base/database/program-lock.sql.ts';
import type { AlertPolicy } from '../../../src/console/alert-entry.ts';
import {
  type Alert,
  type AlertKind,
  deriveAlerts,
  settleAlerts,
} from '../../../src/features/alerts/alerts.sql.ts';
import type { MessageStyle } from '../../../src/features/alerts/channels.ts';
import { createMigratedDatabase } from '../../support/database.ts';
import { logger } from '../../support/logger.ts';

/** How the messages of tests are written. */
export const STYLE: MessageStyle = {
  language: 'en',
  timeZone: 'America/Sao_Paulo',
  consoleUrl: new URL('https://conciliation.example'),
};

export interface AlertRow {
  readonly kind: AlertKind;
  readonly dedupe_key: string;
  readonly message: string;
  readonly date: string | null;
  readonly pull_id: bigint | null;
  readonly open: boolean;
  readonly delivered: boolean;
  readonly delivery_attempts: number;
  /** Of the channel webhook: seconds until the next delivery; null when none is planned. */
  readonly wait_seconds: number | null;
}

export async function openAlertTable() {
  const { url, database, close } = await createMigratedDatabase();
  const other = openDatabase({ databaseUrl: url, applicationName: 'test', logger });
  return {
    database,
    /** A second process's way to the same tables. */
    other,
    async clear() {
      await database.prisma.$executeRaw`DELETE FROM conciliation.message_delivery`;
      await database.prisma.$executeRaw`DELETE FROM conciliation.alert`;
    },
    /** Makes all waiting deliveries due now. */
    async bringForward() {
      await database.prisma.$executeRaw`
        UPDATE conciliation.message_delivery SET next_attempt_at = now()
        WHERE next_attempt_at IS NOT NULL`;
    },
    async close() {
      await other.close();
      await close();
    },
  };
}

/** Raises an alert beside those that are open. */
export async function raiseAlert(database: Database, alert: Alert): Promise<void> {
  await database.prisma.$transaction(async (tx) => {
    await takeLock(tx, 'alerts');
    await settleAlerts(tx, [], [alert]);
  });
}

export async function resolveAlerts(database: Database, kind: AlertKind): Promise<void> {
  await database.prisma.$transaction((tx) => settleAlerts(tx, [kind], []));
}

/** No alert about a ledger that is behind, as that of most tests is. */
export const NEVER_STALE: AlertPolicy = {
  timeZone: STYLE.timeZone,
  maxLagDays: 1_000_000,
  maxIdleHours: 1_000_000,
};

/** What is told about alerts to English readers, and no digest. */
export const ALERTS_ONLY = { style: STYLE, policy: NEVER_STALE, digestSlotAt: null };

/** Derives the alerts, of which so many begin and end. The open ones are these afterwards, if any are given. */
export async function expectDerived(
  database: Database,
  [raised, resolved]: readonly [number, number],
  open?: readonly string[],
  policy: Partial<AlertPolicy> = {},
  now = new Date(),
): Promise<void> {
  const changes = await deriveAlerts(database, now, { ...NEVER_STALE, ...policy });
  expect(changes).toEqual({ raised, resolved });
  if (open !== undefined) expect(await openTexts(database)).toEqual(open);
}

export const openAlerts = async (database: Database) =>
  (await readAlerts(database)).filter(({ open }) => open);

/** The open alerts as "key date: message", or "key: message". */
export const openTexts = async (database: Database) =>
  (await openAlerts(database)).map(
    ({ dedupe_key: key, date, message }) => `${key}${date === null ? '' : ` ${date}`}: ${message}`,
  );

/** The keys of the alerts that are open once they were derived. */
export async function openKeys(database: Database, now = new Date()): Promise<string[]> {
  await deriveAlerts(database, now, NEVER_STALE);
  return (await openAlerts(database)).map(({ dedupe_key }) => dedupe_key);
}

/** In the order in which they were raised. */
export function readAlerts(database: Database): Promise<AlertRow[]> {
  return database.prisma.$queryRaw<AlertRow[]>`
    SELECT kind, dedupe_key, message, date::text AS date, pull_id, resolved_at IS NULL AS open,
           delivered_at IS NOT NULL AS delivered, coalesce(attempts, 0) AS delivery_attempts,
           extract(epoch FROM next_attempt_at - clock_timestamp())::float8 AS wait_seconds
    FROM conciliation.alert LEFT JOIN conciliation.message_delivery
      ON alert_id = alert.id AND channel = 'webhook'
    ORDER BY alert.id`;
}
