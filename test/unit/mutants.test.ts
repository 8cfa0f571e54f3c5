import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import mutants from '../mutants/mutants.json' with { type: 'json' };
import { ROOT, readDocument as read } from './docs/documents.ts';

const document = read('docs/mutants.md');

test('there are at least 25 seeded defects, and some against each guarantee', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(25);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  const guarantees = new Set(mutants.map(({ guarantee }) => guarantee));
  expect([...guarantees].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test.each(mutants)(
  'the defect “$name” has exactly one place in the source, tests that are there, and its row of the table',
  ({ guarantee, name, file, find, replace, tests }) => {
    expect(read(file).split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
    expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(document).toContain(`| ${guarantee} | ${name} | \`${file}\` | \`${tests[0]}\``);
  },
);

test('the table has no other defect', () => {
  expect(document.match(/^\| \d+ \| /gm)).toHaveLength(mutants.length);
});
