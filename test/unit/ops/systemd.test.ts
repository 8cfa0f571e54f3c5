import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findProgram, runProgram } from '../../support/programs.ts';
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

const systemdAnalyze = findProgram('systemd-analyze');

describe.skipIf(systemdAnalyze === null)('systemd-analyze (skipped where it is missing)', () => {
  let folder: string;
  let copy: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'conciliation-unit-'));
    copy = join(folder, basename(UNIT));
    // Node.js may lie elsewhere on this machine, and a program that is missing is a fault of the unit.
    writeFileSync(copy, unit.replace('/usr/bin/node', process.execPath));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('finds no fault in the unit', () => {
    const { output } = runProgram(systemdAnalyze ?? '', ['verify', copy]);
    expect(output.split('\n').filter((line) => line.includes(basename(UNIT)))).toEqual([]);
  });

  test('rates the exposure of the unit at 2.0 of 10 at most', () => {
    const { output } = runProgram(systemdAnalyze ?? '', [
      'security',
      '--offline=true',
      '--threshold=20',
      copy,
    ]);
    const [, exposure = ''] = /Overall exposure level for \S+: ([\d.]+)/.exec(output) ?? [];
    expect(Number.parseFloat(exposure), output).toBeLessThanOrEqual(2);
  });
});
