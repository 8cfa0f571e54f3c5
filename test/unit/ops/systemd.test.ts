import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentedVariables, ROOT } from '../docs/documents.ts';

const UNIT = 'ops/systemd/erp-conciliation-sync.service';
const unit = readFileSync(join(ROOT, UNIT), 'utf8');

test('each secret of the unit is the file that a variable of the program names', () => {
  const credentials = [...unit.matchAll(/^LoadCredential=([\w-]+):/gm)].map(([, name]) => name);
  const named = [...unit.matchAll(/^Environment=(\w+_FILE)=%d\/([\w-]+)$/gm)];
  expect(named.map(([, , name]) => name)).toEqual(credentials);
  const variables = documentedVariables();
  expect(named.filter(([, variable = '']) => !variables.includes(variable))).toEqual([]);
});
