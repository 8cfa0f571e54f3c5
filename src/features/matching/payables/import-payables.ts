import { type Database, inTransaction, type Transaction } from '../../../base/database/database.ts';
import type { FileReading } from '../../../base/files/import-file.ts';
import { ShutdownError } from '../../../base/runtime/errors.ts';
import { readPayableFile, type StatedPayable } from './payable-file.ts';
import {
  addPayables,
  beginImport,
  type EndedImport,
  endImport,
  type ImportKind,
  MAX_REPORTED_KEYS,
  PAYABLES_AT_ONCE,
  type PayableReject,
} from './payable-import.sql.ts';

export type PayableFileReport = EndedImport & {
  /** The faults in the order of the file; at most `MAX_REPORTED_REJECTS`. */
  readonly rejects: readonly PayableReject[];
  /** ERP keys of downgraded payables; at most `MAX_REPORTED_KEYS`. */
  readonly downgradedKeys: readonly string[];
};

export const MAX_REPORTED_REJECTS = 1000;
/** A million payables take some minutes. */
const IMPORT_TRANSACTION = { timeout: 3_600_000, maxWait: 60_000 };

interface ImportOptions {
  readonly kind: ImportKind;
  readonly actor: string;
  /** The number of payables that the ERP wrote; null: not stated. */
  readonly announced: number | null;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  /** Receives the number of payables read so far. */
  readonly onProgress?: (read: number) => void;
}

/**
 * Imports the payables of a file into `conciliation.erp_payable` in one transaction. Payables with a fault are
 * reported, kept as rejects and left out. A dry run is rolled back.
 * @throws InputError when the file cannot be read in the format of its name; nothing was imported
 * @throws ShutdownError when `signal` is aborted; nothing was imported
 */
export function importPayableFile(
  database: Database,
  reading: FileReading,
  options: ImportOptions,
): Promise<PayableFileReport> {
  const { isDryRun } = options;
  return inTransaction(database, { isDryRun, ...IMPORT_TRANSACTION }, (tx) =>
    importAll(tx, reading, options),
  );
}

async function importAll(
  tx: Transaction,
  reading: FileReading,
  options: ImportOptions,
): Promise<PayableFileReport> {
  const { actor: by, announced, kind, signal } = options;
  const importId = await beginImport(tx, { kind, by });
  const rejects: PayableReject[] = [];
  const downgradedKeys: string[] = [];
  let read = 0;
  for await (const batch of batchesOf(readPayableFile(reading))) {
    if (signal.aborted) throw new ShutdownError('the import was interrupted');
    const report = await addPayables(tx, importId, batch);
    read += batch.length;
    options.onProgress?.(read);
    rejects.push(...report.rejects.slice(0, MAX_REPORTED_REJECTS - rejects.length));
    downgradedKeys.push(
      ...report.downgradedKeys.slice(0, MAX_REPORTED_KEYS - downgradedKeys.length),
    );
  }
  return { ...(await endImport(tx, importId, { by, announced })), rejects, downgradedKeys };
}

async function* batchesOf(rows: AsyncIterable<StatedPayable>): AsyncGenerator<StatedPayable[]> {
  let batch: StatedPayable[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < PAYABLES_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
