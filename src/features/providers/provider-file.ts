import { readCsvRecords } from '../../base/files/csv-records.ts';
import { formatOf, readJson as readJsonFile, readText } from '../../base/files/import-file.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { type FieldFault, isStorableText } from '../../base/values/field-reader.ts';
import { checkProvider, type Provider } from './provider.ts';

import { ProviderCsv } from './provider-csv.ts';

/** One provider of a file, or its faults. */
export interface FileProvider {
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
export async function* readProviderFile(path: string): AsyncGenerator<FileProvider> {
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
