import {
  type Database,
  type QueryClient,
  type Transaction,
  takeLock,
} from '../../base/database/database.ts';
import { dateText, type Language, listDates, textOf } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { AlertPolicy, AlertRow, Words } from '../../console/alert-entry.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { ALERT_KINDS, ALERTS, type AlertKind } from './alerts.sql.ts';

/** A condition while it lasts. */
export interface Alert {
  readonly kind: AlertKind;
  /** Identifies the condition. */
  readonly dedupeKey: string;
  /** A sentence for a person, without personal data. */
  readonly message: string;
  /** The same sentence in Portuguese. */
  readonly messagePt: string;
  readonly date: CivilDate | null;
  readonly pullId: bigint | null;
}

/** The alerts about providers, or all others. */
export type AlertGroup = 'providers' | 'ledger';

const kindsOf = (group: AlertGroup) =>
  ALERT_KINDS.filter((kind) => (ALERTS[kind].readsProviders === true) === (group === 'providers'));

/** The ERP may lock the table `provider`. The transaction, which has the lock of the alerts, does not wait. */
const LOCK_TIMEOUT = '2s';

/**
 * Updates the alerts of a group to the state of the tables: raises new ones and resolves those that are over. Alerts are
 * derived from tables and not from events, so that the next call raises the alert of a merge whose process died. Several
 * processes may call this function at the same time. A lock on the table `provider` delays no other alert.
 * @throws StagingUnavailableError also while the table `provider` is locked, for the group `providers`
 */
export function deriveAlerts(
  database: Database,
  now: Date,
  policy: AlertPolicy,
  group: AlertGroup = 'ledger',
): Promise<{ raised: number; resolved: number }> {
  return database.prisma.$transaction(async (tx) => {
    if (group === 'providers') await setLockTimeout(tx, LOCK_TIMEOUT);
    // Two processes that see one condition raise it once. The conditions include the alerts of the previous holder.
    await takeLock(tx, 'alerts');
    return settleAlerts(tx, kindsOf(group), await readAlertsNow(tx, now, policy, group));
  });
}

export async function setLockTimeout(tx: Transaction, timeout: string): Promise<void> {
  await tx.$executeRaw`SELECT set_config('lock_timeout', ${timeout}, true)`;
}

/** Returns the alerts that the tables give now, by one statement. Writes nothing. */
export async function readAlertsNow(
  tx: QueryClient,
  now: Date,
  policy: AlertPolicy,
  group: AlertGroup,
): Promise<Alert[]> {
  const queries = kindsOf(group).flatMap((kind) =>
    ALERTS[kind]
      .causes({ ...policy, now })
      .map(
        (sql) =>
          Prisma.sql`SELECT ${kind}::text AS kind, to_jsonb(found) AS row FROM (${sql}) AS found`,
      ),
  );
  const found = await tx.$queryRaw<{ kind: AlertKind; row: AlertRow }[]>(
    Prisma.join(queries, ' UNION ALL '),
  );
  const causes = new Map<string, AlertRow[]>();
  for (const { kind, row } of found) {
    const key = (row.cause ?? null) === null ? kind : `${kind}:${row.cause}`;
    const rows = causes.get(key);
    if (rows === undefined) causes.set(key, [row]);
    else rows.push(row);
  }
  return [...causes].map(([key, rows]) => alertOf(key, rows));
}

/**
 * The alert of one cause, for any number of dates, because one action usually corrects all of them. Date and pull are
 * those of the oldest date, and so are the arguments of the message.
 */
export function alertOf(dedupeKey: string, rows: readonly AlertRow[]): Alert {
  const kind = dedupeKey.replace(/:.*/, '') as AlertKind;
  const dateOf = ({ date }: AlertRow) => date ?? '9999-12-31';
  const inOrder = rows.toSorted((a, b) => (dateOf(a) < dateOf(b) ? -1 : 1));
  const dates = [...new Set(inOrder.flatMap(({ date }) => date ?? []))];
  const [oldest = {}] = inOrder;
  const tell = (words: Words) => {
    const values: Record<string, string | number> = {
      cause: '',
      days: dates.length,
      listed: words.list(dates),
    };
    for (const [name, value] of Object.entries(oldest)) values[name] = argumentOf(value, words);
    Object.assign(values, ALERTS[kind].values?.(inOrder, words));
    return words.text(`alertMessages.${kind}`, values);
  };
  return {
    kind,
    dedupeKey,
    message: tell(EN),
    messagePt: tell(PT),
    date: oldest.date ?? null,
    pullId: (oldest.pullId ?? null) === null ? null : BigInt(oldest.pullId ?? 0),
  };
}

/** Dates and months are those of the reader. Objects are arguments of `AlertEntry.values` alone. */
function argumentOf(value: unknown, { day }: Words): string | number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{4}-\d\d(-\d\d)?$/.test(value)
    ? day(value)
    : `${value ?? ''}`;
}

const wordsOf = (language: Language): Words => ({
  language,
  text: textOf(language),
  day: (date) => dateText(date, language),
  list: (dates) => listDates(dates, language),
});
const [EN, PT] = [wordsOf('en'), wordsOf('pt-BR')];

/**
 * Makes the unresolved alerts of `kinds` equal to `alerts`: raises new ones, to be announced immediately, resolves those
 * that are over, and updates the messages of the others. The delivery decides whether there is a recipient.
 */
export async function settleAlerts(
  tx: Transaction,
  kinds: readonly AlertKind[],
  alerts: readonly Alert[],
): Promise<{ raised: number; resolved: number }> {
  const rows = alerts.map((alert) => ({ ...alert, pullId: alert.pullId?.toString() }));
  const latest = Prisma.sql`(
    SELECT kind, "dedupeKey" AS dedupe_key, message, "messagePt" AS message_pt, date, "pullId" AS pull_id
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS stated
      (kind text, "dedupeKey" text, message text, "messagePt" text, date date, "pullId" bigint)
  ) AS latest`;
  const resolved = await tx.$executeRaw`
    UPDATE conciliation.alert
    SET resolved_at = now(), announce_at = now()
    WHERE resolved_at IS NULL AND kind = ANY(${kinds})
      AND dedupe_key <> ALL(${alerts.map(({ dedupeKey }) => dedupeKey)})`;
  await tx.$executeRaw`
    UPDATE conciliation.alert AS alert
    SET message = latest.message, message_pt = latest.message_pt, date = latest.date, pull_id = latest.pull_id
    FROM ${latest}
    WHERE alert.dedupe_key = latest.dedupe_key AND alert.resolved_at IS NULL
      AND (alert.message, alert.message_pt, alert.date, alert.pull_id)
          IS DISTINCT FROM (latest.message, latest.message_pt, latest.date, latest.pull_id)`;
  const raised = await tx.$executeRaw`
    INSERT INTO conciliation.alert
      (kind, dedupe_key, message, message_pt, date, pull_id, announce_at)
    SELECT kind, dedupe_key, message, message_pt, date, pull_id, now()
    FROM ${latest}
    WHERE NOT EXISTS (
      SELECT FROM conciliation.alert AS raised
      WHERE raised.dedupe_key = latest.dedupe_key AND raised.resolved_at IS NULL
    )
    ORDER BY date, dedupe_key`;
  return { raised, resolved };
}
