import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeIn, DOCUMENTS, proseOf, ROOT, readDocument, tableRowsOf } from './documents.ts';

const TEST_FILES = new Set(
  readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).map((file) =>
    basename(file),
  ),
);

/** The anchors of a document's headings, as GitHub and GitLab make them. */
function anchorsOf(document: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of proseOf(document).matchAll(/^#+ (.+)$/gm)) {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const base = text.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    let anchor = base;
    for (let copy = 1; anchors.has(anchor); copy++) anchor = `${base}-${copy}`;
    anchors.add(anchor);
  }
  return anchors;
}

function linksOf(document: string): string[] {
  const text = proseOf(document).replace(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

describe.each(DOCUMENTS)('%s', (path) => {
  test('every relative link leads to a file, and every anchor to a heading', () => {
    const broken = linksOf(readDocument(path)).filter((target) => {
      const [file = '', anchor] = target.split('#');
      const goal = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(ROOT, goal))) return true;
      return anchor !== undefined && !anchorsOf(readDocument(goal)).has(anchor);
    });
    expect(broken).toEqual([]);
  });

  test('every file that is named by its path exists, and every test file that is named', () => {
    const paths = codeIn(proseOf(readDocument(path))).filter((code) =>
      /^(src|test|docs|prisma|bench|scripts|assets)\/[\w./-]+$/.test(code),
    );
    const tests = codeIn(readDocument(path)).filter((code) => /^\w[\w./-]*\.test\.ts$/.test(code));
    expect([
      ...paths.filter((name) => !existsSync(join(ROOT, name))),
      ...tests.filter((name) => !TEST_FILES.has(basename(name))),
    ]).toEqual([]);
  });

  test('every script that is named is one of package.json', () => {
    const { scripts } = JSON.parse(readDocument('package.json'));
    const named = [...readDocument(path).matchAll(/npm run (?:--silent )?([\w:]+)/g)];
    expect(named.map(([, script = '']) => script).filter((script) => !(script in scripts))).toEqual(
      [],
    );
  });
});

test('docs/architecture.md describes every folder of src/, and no other', () => {
  const described = tableRowsOf(readDocument('docs/architecture.md'))
    .map(([cell = '']) => /^`src\/(\w+)\/`$/.exec(cell)?.[1])
    .filter((folder) => folder !== undefined);
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(described.toSorted()).toEqual(folders.sort());
});

/** The words outside of blocks of code and of parts that a test writes, such as the tables of configuration.md. */
function wordsOf(path: string): number {
  const written = readDocument(path).replace(/<!-- begin generated.*?<!-- end generated -->/gs, '');
  return proseOf(path === 'docs/configuration.md' ? written.replace(/^\|.*/gm, '') : written)
    .split(/\s+/)
    .filter((word) => /\w/.test(word)).length;
}

test('what people wrote is at most 30,000 words on at most 20 pages, and the README at most 700', () => {
  const generated = ['docs/alert-messages.md', 'docs/mutants.md'];
  const pages = DOCUMENTS.filter((path) => !generated.includes(path));
  const words = pages.map(wordsOf);
  expect(pages.length).toBeLessThanOrEqual(20);
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(30_000);
  expect(wordsOf('README.md')).toBeLessThanOrEqual(700);
});
