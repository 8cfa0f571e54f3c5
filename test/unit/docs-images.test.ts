import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const MAX_PICTURES = 12;
const MAX_BYTES = 2e6;

function listFiles(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function shownPictures(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  const links = text.matchAll(/!\[[^\]]*\]\(([^)]+\.png)\)/g);
  return [...links].map(([, target = '']) => join(dirname(document), target));
}

test('docs/images has the pictures that documents show and no other, a dozen and 2 MB at most', () => {
  const pictures = listFiles('docs/images');
  const documents = [
    ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
    ...listFiles('docs').filter((name) => name.endsWith('.md')),
  ];
  const shown = new Set(documents.flatMap(shownPictures));
  expect(pictures.toSorted()).toEqual([...shown].toSorted());
  expect(pictures.length).toBeLessThanOrEqual(MAX_PICTURES);
  const bytes = pictures.reduce((sum, file) => sum + statSync(join(ROOT, file)).size, 0);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});
