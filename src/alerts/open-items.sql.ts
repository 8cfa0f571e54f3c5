import type { Database } from '../database/database.ts';
import type { Alert } from '../domain/alerts/alert.ts';
import {
  addDays,
  type CivilDate,
  dateIn,
  daysBetween,
  lastClosedDate,
} from '../domain/business-day.ts';
import { type NeedCounts, readNeeds } from '../ledger/ledger-days.sql.ts';
import { readCheckpoint } from '../ledger/reads.sql.ts';
import { StagingUnavailableError } from '../runtime/errors.ts';
import { type AlertPolicy, readLedgerAlerts } from './derive-alerts.sql.ts';
import { readProviderAlerts } from './provider-alerts.sql.ts';

/** The items that wait for a person, over the whole ledger. */
export interface OpenItems {
  /** The first date of the ledger; null: the ledger is empty. */
  readonly startDate: CivilDate | null;
  /** Null until the first date is reconciled. */
  readonly lastReconciledDate: CivilDate | null;
  /** Number of closed dates after the last reconciled one. */
  readonly lagDays: number;
  /** Dates up to the last reconciled one that are failed, held, lack rejected titles or have findings to resolve now. */
  readonly exceptions: number;
  /** With the oldest days of each reason. */
  readonly needs: NeedCounts;
  /** Changed bank accounts without a decision. */
  readonly accountChanges: number;
  /** Breaks between titles and the ERP's payables after the newest run of the matching. */
  readonly breaks: number;
  /** Companies of the ERP whose buyers a person has to confirm, after the newest run of the matching. */
  readonly unmappedCompanies: number;
  /** All that an alert is raised about. Read off the tables, so that no scheduler has to run. */
  readonly alerts: readonly Alert[];
  /** Whether the table `provider` could be read. The ERP may lock it. */
  readonly providersRead: boolean;
}

/** A page does not wait for the ERP's lock on `provider`. */
const PROVIDER_LOCK_TIMEOUT = '250ms';

/**
 * Reads the open items of the console's first page, of `conciliation status` and of the API.
 * @param needyDays the number of days that `needs` names for each reason
 */
export async function readOpenItems(
  database: Database,
  { now, policy, needyDays }: { now: Date; policy: AlertPolicy; needyDays: number },
): Promise<OpenItems> {
  const { prisma } = database;
  const closed = lastClosedDate(policy.timeZone, now);
  const [checkpoint, needs, accountChanges, matchRun, ledgerAlerts, providerAlerts] =
    await Promise.all([
      readCheckpoint(database),
      readNeeds(database, needyDays, dateIn(policy.timeZone, now)),
      prisma.accountChange.count({ where: { state: 'open' } }),
      prisma.matchRun.findFirst({
        orderBy: { id: 'desc' },
        select: { breaks: true, unmappedCompanies: true },
      }),
      prisma.$transaction((tx) => readLedgerAlerts(tx, now, policy)),
      prisma
        .$transaction(async (tx) => {
          await tx.$executeRaw`SELECT set_config('lock_timeout', ${PROVIDER_LOCK_TIMEOUT}, true)`;
          return readProviderAlerts(tx, policy.timeZone);
        })
        .catch((error: unknown) => {
          if (error instanceof StagingUnavailableError) return null;
          throw error;
        }),
    ]);
  const startDate = checkpoint?.startDate ?? null;
  const lastReconciledDate = checkpoint?.lastReconciledDate ?? null;
  const reached = lastReconciledDate ?? (startDate === null ? closed : addDays(startDate, -1));
  return {
    startDate,
    lastReconciledDate,
    lagDays: Math.max(0, daysBetween(reached, closed)),
    exceptions:
      lastReconciledDate === null
        ? 0
        : await prisma.day.count({
            where: {
              date: { lte: lastReconciledDate },
              state: { in: ['failed', 'held', 'attention'] },
            },
          }),
    needs,
    accountChanges,
    breaks: matchRun?.breaks ?? 0,
    unmappedCompanies: matchRun?.unmappedCompanies ?? 0,
    alerts: [...ledgerAlerts, ...(providerAlerts ?? [])],
    providersRead: providerAlerts !== null,
  };
}
