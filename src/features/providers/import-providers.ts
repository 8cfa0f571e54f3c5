import type { Database } from '../../base/database/database.ts';
import { readCsvRecords } from '../../base/files/csv-records.ts';
import {
  type FileFormat,
  formatOf,
  readJson as readJsonFile,
  readText,
} from '../../base/files/import-file.ts';
import { InputError, ShutdownError } from '../../base/runtime/errors.ts';
import { type FieldFault, isStorableText } from '../../base/values/field-reader.ts';
import type { Provider } from './provider.ts';
import { checkProvider } from './provider.ts';
import { ProviderCsv } from './provider-csv.ts';
import { importProviders } from './provider-import.sql.ts';

/** One provider of a file, or its faults. */
interface FileProvider {
  /** The line of a CSV file on which it begins, or its index in a JSON list; both from 1. */
  readonly at: number;
  /** Null if there are faults. */
  readonly provider: Provider | null;
  readonly isRaised: boolean;
  /** Of a provider with faults, where it can be read: another row with it is contested. */
  readonly refusedId: string | null;
  /** For CSV with the names of the columns. */
  readonly faults: readonly FieldFault[];
}

/**
 * Reads the providers of a file and checks each of them. The import checks conflicts between providers.
 * @throws InputError when the file cannot be read, or does not have the format of its name
 */
async function* readProviderFile(path: string): AsyncGenerator<FileProvider> {
  const candidates = formatOf(path) === 'csv' ? readCsv(path) : readJson(path);
  for await (const { at, candidate, toField } of candidates) {
    if (isFault(candidate)) {
      yield { at, provider: null, isRaised: false, refusedId: null, faults: [candidate] };
      continue;
    }
    const check = checkProvider(candidate.value);
    if (check.ok) {
      const { provider, isRaised } = check;
      yield { at, provider, isRaised, refusedId: null, faults: [] };
    } else {
      const faults = check.faults.map((fault) => ({ ...fault, field: toField(fault.field) }));
      const refusedId = externalIdOf(candidate.value);
      yield { at, provider: null, isRaised: false, refusedId, faults };
    }
  }
}

function externalIdOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const id: unknown = Reflect.get(value, 'externalId');
  return typeof id === 'string' && isStorableText(id) ? id : null;
}

interface FileCandidate {
  readonly at: number;
  readonly candidate: { readonly value: unknown } | FieldFault;
  readonly toField: (field: string) => string;
}

function isFault(candidate: FileCandidate['candidate']): candidate is FieldFault {
  return 'expected' in candidate;
}

const asItIs = (field: string) => field;

async function* readCsv(path: string): AsyncGenerator<FileCandidate> {
  let csv: ProviderCsv | null = null;
  for await (const record of readCsvRecords(readText(path))) {
    if (csv === null) {
      csv = new ProviderCsv(record);
      continue;
    }
    const read = csv.read(record);
    if ('expected' in read) yield { at: record.line, candidate: read, toField: asItIs };
    else {
      const candidate = { value: read.candidate };
      yield { at: record.line, candidate, toField: read.toColumn };
    }
  }
  if (csv === null) throw new InputError('the file is empty');
}

async function* readJson(path: string): AsyncGenerator<FileCandidate> {
  const list = listIn(await readJsonFile(path));
  for (const [index, value] of list.entries()) {
    yield { at: index + 1, candidate: { value }, toField: asItIs };
  }
}

function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const list: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, 'providers') : null;
  if (Array.isArray(list)) return list;
  throw new InputError('expected {"providers": [...]} or a list of providers');
}

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
