import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { checkProvider, type Provider, type ProviderFault } from '../domain/provider.ts';
import { InputError } from '../runtime/errors.ts';
import { readCsvRecords } from './csv-records.ts';
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
  readonly faults: readonly ProviderFault[];
}

export type FileFormat = 'csv' | 'json';

/** A JSON file is read completely into memory. This is about half a million providers. */
const MAX_JSON_BYTES = 256 * 1024 * 1024;

/** @throws InputError when the name ends in neither .csv nor .json */
export function formatOf(path: string): FileFormat {
  const extension = extname(path).toLowerCase();
  if (extension === '.csv') return 'csv';
  if (extension === '.json') return 'json';
  throw new InputError('the name of the file must end in .csv or .json');
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
  return typeof id === 'string' && isStorable(id) ? id : null;
}

/** PostgreSQL's JSON has neither U+0000 nor lone surrogates. */
const isStorable = (text: string) => !text.includes('\u0000') && !/\p{Surrogate}/u.test(text);

interface FileCandidate {
  readonly at: number;
  readonly candidate: { readonly value: unknown } | ProviderFault;
  readonly toField: (field: string) => string;
}

function isFault(candidate: FileCandidate['candidate']): candidate is ProviderFault {
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

/**
 * Removes a byte order mark.
 * @throws InputError when the file cannot be read or is not UTF-8
 */
async function* readText(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      yield decoder.decode(chunk, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    throw toFileError(error);
  }
}

async function* readJson(path: string): AsyncGenerator<FileCandidate> {
  const list = listIn(parseJson(await readJsonText(path)));
  for (const [index, value] of list.entries()) {
    yield { at: index + 1, candidate: { value }, toField: asItIs };
  }
}

async function readJsonText(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > MAX_JSON_BYTES) {
      throw new InputError('the file is too large for JSON; split it, or use CSV');
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    throw toFileError(error);
  }
}

/** Reports only the position of an error, because the parser's message quotes the text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = /at position \d+/.exec(String(error))?.[0];
    throw new InputError(`the file is not JSON${place === undefined ? '' : ` (${place})`}`);
  }
}

function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const list: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, 'providers') : null;
  if (Array.isArray(list)) return list;
  throw new InputError('expected {"providers": [...]} or a list of providers');
}

function toFileError(error: unknown): unknown {
  if (error instanceof InputError || !(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return new InputError('the file is not UTF-8; save it as "CSV UTF-8" or convert it');
  }
  return new InputError(`the file cannot be read (${code})`, { cause: error });
}
