import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const SRC = join(import.meta.dirname, '../../src');

/** The files of src/ that people write, by their paths in src/. */
export const SOURCES: readonly { readonly file: string; readonly source: string }[] = readdirSync(
  SRC,
  { recursive: true, encoding: 'utf8' },
)
  .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('generated'))
  .sort()
  .map((file) => ({ file, source: readFileSync(join(SRC, file), 'utf8') }));
