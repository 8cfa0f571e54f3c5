import { expect, test } from 'vitest';
import { fieldAt, MEMBERS, parentOf } from '../../../src/core/reader/title-locator.ts';
import { VALUE_COLUMNS } from '../../../src/core/title/title.ts';
import { TITLE_FIELDS } from '../../../src/core/title/title-schema.ts';

test('every column has one field, whose number is that of the column', () => {
  const columns = TITLE_FIELDS.map(({ column }) => column);
  expect(columns.slice(0, VALUE_COLUMNS.length)).toEqual(VALUE_COLUMNS);
  expect(columns.slice(VALUE_COLUMNS.length).every((column) => column === null)).toBe(true);
});

test('every field is a member of its object', () => {
  for (const [index, field] of TITLE_FIELDS.entries()) {
    expect(MEMBERS[1 + parentOf(field)]).toContain(index);
    expect(fieldAt(field.path)).toBe(index);
  }
});
