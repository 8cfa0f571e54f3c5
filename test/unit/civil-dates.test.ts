import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CIVIL_DATES, JSON_FIELDS } from '../../src/base/database/civil-dates.ts';

interface Field {
  readonly model: string;
  readonly name: string;
  readonly type: string;
  readonly isDate: boolean;
}

const schema = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8');

function fieldsOf(text: string): Field[] {
  const models = [...text.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)];
  return models
    .filter(([, , body]) => !/^\s*@@ignore/m.test(body ?? ''))
    .flatMap(([, model = '', body = '']) =>
      [...body.matchAll(/^ {2}(\w+) +(\w+)(.*)$/gm)].map(([, name = '', type = '', rest = '']) => ({
        model: model.charAt(0).toLowerCase() + model.slice(1),
        name,
        type,
        isDate: rest.includes('@db.Date'),
      })),
    );
}

const fields = fieldsOf(schema);

test('the client extension converts every field with @db.Date, and no other', () => {
  const listed = Object.entries(CIVIL_DATES).flatMap(([model, dates]) =>
    Object.keys(dates).map((name) => `${model}.${name}`),
  );
  const dates = fields.filter(({ isDate }) => isDate);
  expect(listed.sort()).toEqual(dates.map(({ model, name }) => `${model}.${name}`).sort());
  // Arguments are converted by the names of their fields.
  const names = new Set(dates.map(({ name }) => name));
  expect(fields.filter(({ name, isDate }) => names.has(name) && !isDate)).toEqual([]);
});

test('the client extension leaves every JSON field alone, and no other', () => {
  const names = new Set(fields.filter(({ type }) => type === 'Json').map(({ name }) => name));
  expect([...JSON_FIELDS].sort()).toEqual([...names].sort());
  expect(fields.filter(({ name, type }) => names.has(name) && type !== 'Json')).toEqual([]);
});
