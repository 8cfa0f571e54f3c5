import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runMeasured, startCommand } from '../../support/child-command.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { insertTitles } from './export-fixture.ts';

/** Far more than any buffer on the way holds. */
const ROWS = 300_000;
const RANGE = ['--from', '2026-03-01', '--to', '2026-03-31'];
const EMPTY_RANGE = ['--from', '2020-01-01', '--to', '2020-01-31'];
/** On top of what the program takes to export nothing. A result held in memory would be hundreds. */
const GROWTH_MB = 80;

const world = worldOfFile();
const folder = forFile(openFolder);
const environment = () => ({ DATABASE_URL: world.databaseUrl });

beforeAll(async () => {
  for (const date of ['2026-03-02', '2026-03-03', '2026-03-04']) {
    await insertTitles(world, date, ROWS / 3);
  }
});

describe(`an export of ${ROWS} titles`, () => {
  async function exportInto(range: readonly string[], format: string, rows: number) {
    const file = join(folder.path, `${rows}.${format}`);
    const { stdout, peakMegabytes } = await runMeasured(
      ['export', ...range, '--format', format, '--out', file, '--json'],
      environment(),
    );
    const { size: bytes } = await stat(file);
    expect(JSON.parse(stdout)).toMatchObject({ rows, bytes });
    return peakMegabytes;
  }

  test('as a workbook stays within bounded memory', async () => {
    const format = 'xlsx';
    const idle = await exportInto(EMPTY_RANGE, format, 0);
    const peak = await exportInto(RANGE, format, ROWS);
    expect(peak - idle).toBeLessThan(GROWTH_MB);
  });

  test('that is interrupted leaves no file', async () => {
    const file = join(folder.path, 'interrupted.xlsx');
    const child = startCommand(
      ['export', ...RANGE, '--format', 'xlsx', '--out', file],
      environment(),
    );
    const partialSize = async () => {
      const partial = (await readdir(folder.path)).find((name) => name.endsWith('.partial'));
      return partial === undefined ? 0 : (await stat(join(folder.path, partial))).size;
    };
    await expect.poll(partialSize, { interval: 20 }).toBeGreaterThan(0);
    child.kill('SIGINT');
    expect(await child.ended).toMatchObject({ exit: 1, signal: null });
    const left = await readdir(folder.path);
    expect(
      left.filter((name) => name.includes('interrupted') || name.endsWith('.partial')),
    ).toEqual([]);
  });
});
