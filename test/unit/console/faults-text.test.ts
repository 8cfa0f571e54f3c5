import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { namesIn } from '../../../src/base/texts/texts.ts';

const SRC = join(import.meta.dirname, '../../../src');
/** The folders whose errors pages show. The API and the command line answer in English. */
const FOLDERS = [
  'console',
  'core/ledger',
  'core/merge/decisions.sql.ts',
  'features/accounts',
  'features/backfills',
  'features/review',
];
const ENGLISH_ONLY = [
  'console/api/',
  'features/review/index.ts',
  // The command line and the worker only.
  'core/ledger/pull-ledger.sql.ts',
];

function sourcesOf(path: string): string[] {
  if (/\.tsx?$/.test(path)) return [path];
  return readdirSync(join(SRC, path), { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => /\.tsx?$/.test(name));
}

test('every error that a page can show has a sentence in both languages', () => {
  const known = new Set(namesIn('faults'));
  const missing: string[] = [];
  let count = 0;
  for (const file of FOLDERS.flatMap(sourcesOf)) {
    if (ENGLISH_ONLY.some((folder) => file.startsWith(folder))) continue;
    const source = readFileSync(join(SRC, file), 'utf8');
    // The compiler knows their sentences.
    count += source.split('refusal(').length - 1;
    for (const [, call = ''] of source.matchAll(/new InputError\(([\s\S]*?)\);/g)) {
      count += 1;
      const fault = /fault: '(\w+)'/.exec(call)?.[1];
      // Faults of a function with a separate test: of a sign-off, of a range.
      if (/context: \{ fault(, date)? \}|context: fault\.context|fault: row === null/.test(call))
        continue;
      if (fault === undefined || !known.has(fault)) missing.push(`${file}: ${call.trim()}`);
    }
  }
  expect(missing).toEqual([]);
  expect(count).toBeGreaterThan(15);
});
