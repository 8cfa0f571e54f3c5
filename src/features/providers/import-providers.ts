import type { Database } from '../../base/database/database.ts';
import { type FileFormat, formatOf } from '../../base/files/import-file.ts';
import { ShutdownError } from '../../base/runtime/errors.ts';
import type { Provider } from './provider.ts';
import { readProviderFile } from './provider-file.ts';
import { importProviders } from './provider-import.sql.ts';

/** The fault at one place of the file, without values. */
interface FileFault {
  /** The line of a CSV file, or the index in a JSON list; both from 1. */
  readonly at: number;
  readonly field: string;
  readonly expected: string;
}

export interface FileReport {
  readonly format: FileFormat;
  /** Providers in the file. */
  readonly read: number;
  readonly inserted: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Providers that were not imported. */
  readonly refused: number;
  /** Tax identifiers whose lower-case letters were changed to upper case. */
  readonly raised: number;
  /** The faults of refused providers, in the order of the file; at most `MAX_REPORTED_FAULTS`. */
  readonly faults: readonly FileFault[];
}

export const MAX_REPORTED_FAULTS = 1000;
const ROWS_AT_ONCE = 1000;

/**
 * Imports the providers of a file into `conciliation.provider` in one transaction. Providers with a
 * fault are reported and left out. A provider replaces the existing row: fields that the file does
 * not state become null.
 * @throws InputError when the file cannot be read in the format of its name; nothing was imported
 * @throws ShutdownError when `signal` is aborted; nothing was imported
 */
export async function importProviderFile(
  database: Database,
  path: string,
  options: { readonly isDryRun: boolean; readonly actor: string; readonly signal: AbortSignal },
): Promise<FileReport> {
  const format = formatOf(path);
  const faults: FileFault[] = [];
  const refused: { at: number; externalId: string }[] = [];
  const count = { read: 0, refused: 0, raised: 0 };

  async function* readRows(): AsyncGenerator<{ at: number; provider: Provider }[]> {
    let rows = [];
    for await (const row of readProviderFile(path)) {
      const { at, provider, isRaised, refusedId, faults: found } = row;
      count.read += 1;
      if (provider === null) {
        count.refused += 1;
        if (refusedId !== null) refused.push({ at, externalId: refusedId });
        if (faults.length < MAX_REPORTED_FAULTS)
          faults.push(...found.map((fault) => ({ at, ...fault })));
        continue;
      }
      if (isRaised) count.raised += 1;
      rows.push({ at, provider });
      if (rows.length < ROWS_AT_ONCE) continue;
      if (options.signal.aborted) throw new ShutdownError('the import was interrupted');
      yield rows;
      rows = [];
    }
    if (rows.length > 0) yield rows;
    if (options.signal.aborted) throw new ShutdownError('the import was interrupted');
  }

  const { repeated, ...written } = await importProviders(database, readRows(), {
    ...options,
    refused,
  });
  const place = format === 'csv' ? 'line' : 'item';
  for (const { at, field, otherAt } of repeated) {
    faults.push({ at, field, expected: `${REPEATED[field]} ${place} ${otherAt}` });
  }
  return {
    format,
    ...count,
    refused: count.refused + new Set(repeated.map(({ at }) => at)).size,
    ...written,
    faults: faults.sort((a, b) => a.at - b.at).slice(0, MAX_REPORTED_FAULTS),
  };
}

const REPEATED = {
  externalId: 'is also in',
  identificationNumber: 'belongs to another externalId in',
} as const;
