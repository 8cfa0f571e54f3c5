import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { DOCUMENTS, ROOT, readDocument } from './documents.ts';

const MAX_PICTURES = 12;
const MAX_BYTES = 2e6;

function listPictures(): string[] {
  const entries = readdirSync(join(ROOT, 'docs/images'), { recursive: true, encoding: 'utf8' });
  return entries
    .map((name) => join('docs/images', name))
    .filter((path) => statSync(join(ROOT, path)).isFile());
}

function shownPictures(document: string): string[] {
  const links = readDocument(document).matchAll(/!\[[^\]]*\]\(([^)]+\.png)\)/g);
  return [...links].map(([, target = '']) => join(dirname(document), target));
}

test('docs/images has the pictures that documents show and no other, a dozen and 2 MB at most', () => {
  const pictures = listPictures();
  const shown = new Set(DOCUMENTS.flatMap(shownPictures));
  expect(pictures.toSorted()).toEqual([...shown].toSorted());
  expect(pictures.length).toBeLessThanOrEqual(MAX_PICTURES);
  const bytes = pictures.reduce((sum, file) => sum + statSync(join(ROOT, file)).size, 0);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});
