import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DATE_FIELDS, JSON_FIELDS } from '../../src/generated/schema-fields.ts';

const schema = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8');
const fields = Array.from(
  schema.matchAll(/^ {2}(\w+) +(\w.*)$/gm),
  ([, name = '', type = '']) => [name, type] as const,
);

// Arguments are converted by the names of their fields.
test.each([
  ['acceptedDate', Object.values(DATE_FIELDS).flatMap(Object.keys), /@db\.Date\b/],
  ['extra', JSON_FIELDS, /^Json\b/],
])('no name as that of %s is a name of something else in another model', (example, names, kind) => {
  expect(names).toContain(example);
  const others = fields.filter(([name, type]) => names.includes(name) && !kind.test(type));
  expect(others).toEqual([]);
});
