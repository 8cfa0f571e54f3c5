import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DATE_FIELDS, JSON_FIELDS } from '../../src/generated/schema-fields.ts';

const schema = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8');
const fields = [...schema.matchAll(/^ {2}(\w+) +(\w+)(.*)$/gm)].map(
  ([, name = '', type = '', rest = '']) => ({ name, type, isDate: rest.includes('@db.Date') }),
);

// Arguments are converted by the names of their fields.
test('no name is that of a date in one model and of something else in another', () => {
  const names = new Set(Object.values(DATE_FIELDS).flatMap(Object.keys));
  expect(names).toContain('acceptedDate');
  expect(fields.filter(({ name, isDate }) => names.has(name) && !isDate)).toEqual([]);
});

test('no name is that of JSON in one model and of something else in another', () => {
  const names = new Set(JSON_FIELDS);
  expect(names).toContain('extra');
  expect(fields.filter(({ name, type }) => names.has(name) && type !== 'Json')).toEqual([]);
});
