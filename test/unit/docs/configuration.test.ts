import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SECTIONS, type Variable } from '../../../src/base/config/variables.ts';
import { ROOT, readDocument } from './documents.ts';

const sections = Object.entries<Readonly<Record<string, Variable<unknown>>>>(SECTIONS);

function rowOf([name, variable]: [string, Variable<unknown>]): string {
  const { initial, unset = 'none', takes, file, meaning, isAudited } = variable;
  const cells = [
    `\`${name}\``,
    initial ? `\`${initial}\`` : unset,
    file === undefined ? takes : `${takes}${takes.includes(', ') ? ',' : ''} or a file`,
    isAudited ? `${meaning} [Audited](#settings-in-the-audit-log).` : meaning,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The line of a variable below its meaning, as a comment unless the variable is required. */
function exampleOf([name, variable]: [string, Variable<unknown>]): string[] {
  const { initial, unset, example = initial ?? '', file, meaning } = variable;
  const words = meaning
    .replace(/ See \[[^\]]*\]\([^)]*\)\./, '')
    .replace(/\[([^\]]*)\]\([^)]*\)|`/g, '$1');
  const named = file === 'secret' || file === 'token' ? `${name}_FILE` : name;
  return [
    ...(words.match(/.{1,110}(?: |$)/g) ?? []).map((line) => `# ${line.trim()}`),
    `${unset === 'required' ? '' : '#'}${named}=${example}`,
  ];
}

test('docs/configuration.md has a row for each variable', async () => {
  const head = ['| variable | default | takes | meaning |', '| --- | --- | --- | --- |'];
  const parts = readDocument('docs/configuration.md').split(/(?=^## )/m);
  const document = sections.reduce((text, [title, variables]) => {
    const section = parts.find((part) => part.startsWith(`## ${title}\n`)) ?? '';
    const rows = [...head, ...Object.entries(variables).map(rowOf)].join('\n');
    return text.replace(section, () => section.replace(/^\|.*\|$/ms, () => rows));
  }, parts.join(''));
  await expect(document).toMatchFileSnapshot(join(ROOT, 'docs/configuration.md'));
});

test('.env.example has each variable', async () => {
  const lines = sections.flatMap(([title, variables]) => [
    `\n## ${title}`,
    ...Object.entries(variables).flatMap(exampleOf),
  ]);
  const head =
    '# Every variable is optional, unless its line has no #. docs/configuration.md describes the variables.';
  await expect(`${[head, ...lines].join('\n')}\n`).toMatchFileSnapshot(join(ROOT, '.env.example'));
});
