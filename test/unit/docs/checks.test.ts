/** docs/console.md beside the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHECK_CODES, CHECKS } from '../../../src/base/values/checks.ts';
import { HOLD_REASONS } from '../../../src/core/ledger/pull-ledger.sql.ts';

const TEXT = readFileSync(join(import.meta.dirname, '../../../docs/console.md'), 'utf8');

/** The cells of the rows of a section's table whose first cell is a code. */
function rowsOf(heading: string): string[][] {
  const [, section = ''] = TEXT.split(`# ${heading}\n`);
  const [body = ''] = section.split(/\n##+ /);
  return [...body.matchAll(/^\| `\w+` \|.*$/gm)].map(([line]) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

test('docs/console.md has each check of the titles with its version and severity', () => {
  const documented = rowsOf('Checks of the titles').map(([code, version, severity]) => [
    code,
    version,
    severity,
  ]);
  expect(documented).toEqual(
    CHECK_CODES.map((code) => [code, String(CHECKS[code].version), CHECKS[code].severity]),
  );
});

test('docs/console.md has each reason for a held response', () => {
  expect(rowsOf('Checks of the response').map(([code]) => code)).toEqual([...HOLD_REASONS]);
});

test('docs/console.md names parameters that docs/configuration.md describes', () => {
  const configuration = readFileSync(
    join(import.meta.dirname, '../../../docs/configuration.md'),
    'utf8',
  );
  const named = [...TEXT.matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=\w+)?`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(5);
  for (const name of named) expect(configuration).toContain(`| \`${name}\` |`);
});
