import type { TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { VALUE_COLUMNS } from '../../../src/domain/title.ts';
import { CONCILIATION_TITLE_SCHEMA } from '../../../src/platform/title-schema.ts';
import {
  fieldAt,
  membersOf,
  parentOf,
  TITLE_LAYOUT,
  ValueKind,
} from '../../../src/reader/title-layout.ts';

interface Documented {
  readonly path: string;
  readonly isObject: boolean;
  readonly isRequired: boolean;
  readonly maxLength: number | null;
}

function documentedFields(schema: object, prefix = ''): Documented[] {
  const { properties, required = [] } = schema as {
    properties: Record<string, TSchema>;
    required?: readonly string[];
  };
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = prefix + name;
    const isObject = 'properties' in field;
    const maxLength = 'maxLength' in field ? Number(field['maxLength']) : null;
    const inner = isObject ? documentedFields(field, `${path}.`) : [];
    return [{ path, isObject, isRequired: required.includes(name), maxLength }, ...inner];
  });
}

const byPath = (one: { path: string }, other: { path: string }) => (one.path < other.path ? -1 : 1);

test('the layout has the fields of the schema, and requires what it requires', () => {
  const layout = TITLE_LAYOUT.map(({ path, kind, isRequired, maxBytes }) => ({
    path,
    isObject: kind === ValueKind.object,
    isRequired,
    maxLength: kind === ValueKind.text ? maxBytes : null,
  }));
  expect(layout.toSorted(byPath)).toEqual(
    documentedFields(CONCILIATION_TITLE_SCHEMA).toSorted(byPath),
  );
});

test('a field that has a column has its number', () => {
  expect(TITLE_LAYOUT.slice(0, VALUE_COLUMNS.length).map(({ column }) => column)).toEqual(
    VALUE_COLUMNS,
  );
});

test('every field is a member of its object', () => {
  for (const [index, field] of TITLE_LAYOUT.entries()) {
    expect(membersOf(parentOf(field))).toContain(index);
    expect(fieldAt(field.path)).toBe(index);
  }
});
