import type { Database } from '../../base/database/database.ts';
import {
  type CheckOutcome,
  DUPLICATE_FAULT,
  type PendingProvider,
  readPendingProviders,
  recordChecks,
  relieveProviders,
} from './pending-providers.sql.ts';
import { checkProvider, MAX_PROVIDERS_PER_REQUEST, type Provider } from './provider.ts';
import type { SentProvider } from './provider-batches.sql.ts';

/** A pending row that passed the check, and its request item. */
export interface CheckedProvider {
  readonly row: SentProvider;
  readonly provider: Provider;
}

export interface GatheredBatch {
  /** At most `MAX_PROVIDERS_PER_REQUEST`, each with a different tax identifier. */
  readonly checked: readonly CheckedProvider[];
  readonly invalid: number;
  /** Rows that need no request, because the platform has their content. */
  readonly unchanged: number;
  /** Rows that were invalid or rejected because of other rows, which have changed since. */
  readonly relieved: number;
}

/** Checks pending rows, the longest waiting first, until a request is full or no row is left. */
export async function gatherBatch(database: Database, actor: string): Promise<GatheredBatch> {
  const relieved = await relieveProviders(database);
  const checked: CheckedProvider[] = [];
  let invalid = 0;
  let unchanged = 0;
  let last: PendingProvider | null = null;
  for (;;) {
    const page = await readPendingProviders(database, last, MAX_PROVIDERS_PER_REQUEST);
    const outcomes: CheckOutcome[] = [];
    for (const row of page) {
      const outcome = checkRow(row);
      if ('state' in outcome) outcomes.push(outcome);
      else checked.push(outcome);
    }
    if (outcomes.length > 0) {
      const recorded = await recordChecks(database, outcomes, actor);
      invalid += recorded.invalid;
      unchanged += recorded.synced;
    }
    last = page.at(-1) ?? null;
    if (page.length < MAX_PROVIDERS_PER_REQUEST || checked.length >= MAX_PROVIDERS_PER_REQUEST) {
      break;
    }
  }
  return { checked: checked.slice(0, MAX_PROVIDERS_PER_REQUEST), invalid, unchanged, relieved };
}

function checkRow(row: PendingProvider): CheckOutcome | CheckedProvider {
  if (row.isUnchanged && !row.isDuplicate) return { row, state: 'synced' };
  const check = checkProvider(row.candidate);
  const faults = check.ok ? [] : check.faults;
  // An invalid number causes no conflict, even if several rows have it.
  const isContested =
    row.isDuplicate && faults.every(({ field }) => field !== DUPLICATE_FAULT.field);
  if (!check.ok || isContested) {
    return {
      row,
      state: 'invalid',
      faults: isContested ? [...faults, DUPLICATE_FAULT] : faults,
      isContested,
    };
  }
  const { externalId, contentHash } = row;
  const taxId = check.provider.identificationNumber;
  return { row: { externalId, contentHash, taxId }, provider: check.provider };
}
