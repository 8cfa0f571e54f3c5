import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { InputError } from '../runtime/errors.ts';

export type FileFormat = 'csv' | 'json';

/** A JSON file is read completely into memory. This is about half a million records. */
const MAX_JSON_BYTES = 256 * 1024 * 1024;

/** @throws InputError when the name ends in neither .csv nor .json */
export function formatOf(path: string): FileFormat {
  const extension = extname(path).toLowerCase();
  if (extension === '.csv') return 'csv';
  if (extension === '.json') return 'json';
  throw new InputError('the name of the file must end in .csv or .json');
}

/**
 * Removes a byte order mark.
 * @throws InputError when the file cannot be read or is not UTF-8
 */
export async function* readText(path: string): AsyncGenerator<string> {
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

/**
 * Reads a JSON file.
 * @throws InputError when the file cannot be read, is too large, or is not JSON in UTF-8
 */
export async function readJson(path: string): Promise<unknown> {
  try {
    if ((await stat(path)).size > MAX_JSON_BYTES) {
      throw new InputError('the file is too large for JSON; split it, or use CSV');
    }
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path)));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw toFileError(error);
    // The parser's message quotes the text.
    const place = /at position \d+/.exec(error.message)?.[0];
    throw new InputError(`the file is not JSON${place === undefined ? '' : ` (${place})`}`);
  }
}

function toFileError(error: unknown): unknown {
  if (error instanceof InputError || !(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return new InputError('the file is not UTF-8; save it as "CSV UTF-8" or convert it');
  }
  return new InputError(`the file cannot be read (${code})`, { cause: error });
}
