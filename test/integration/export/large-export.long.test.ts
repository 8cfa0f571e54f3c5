import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExportWorld, openExportWorld } from './export-fixture.ts';

/** Far more than any buffer on the way holds. */
const ROWS = 300_000;
const RANGE = ['--from', '2026-03-01', '--to', '2026-03-31'];
const EMPTY_RANGE = ['--from', '2020-01-01', '--to', '2020-01-31'];
/** On top of what the program takes to export nothing. A result held in memory would be hundreds. */
const GROWTH_MB = 80;
const REPORT_PEAK_MEMORY = ['--import', join(import.meta.dirname, 'report-peak-memory.mjs')];

let world: ExportWorld;

beforeAll(async () => {
  world = await openExportWorld();
  for (const date of ['2026-03-02', '2026-03-03', '2026-03-04']) {
    await world.insertTitles(date, ROWS / 3);
  }
});
afterAll(() => world.close());

describe(`an export of ${ROWS} titles`, () => {
  async function peakMegabytes(range: readonly string[], format: string, rows: number) {
    const file = join(world.folder, `${rows}.${format}`);
    const run = await world.runExport(
      [...range, '--format', format, '--out', file, '--json'],
      REPORT_PEAK_MEMORY,
    );
    expect(run.status).toBe(0);
    const { size: bytes } = await stat(file);
    expect(JSON.parse(run.stdout.toString())).toMatchObject({ rows, bytes });
    return Number(/peak (\d+) MB/.exec(run.stderr)?.[1]);
  }

  test('as a workbook stays within bounded memory', async () => {
    const format = 'xlsx';
    const idle = await peakMegabytes(EMPTY_RANGE, format, 0);
    const peak = await peakMegabytes(RANGE, format, ROWS);
    expect(peak - idle).toBeLessThan(GROWTH_MB);
  });

  test('that is interrupted leaves no file', async () => {
    const file = join(world.folder, 'interrupted.xlsx');
    const child = world.spawnExport([...RANGE, '--format', 'xlsx', '--out', file]);
    const partialSize = async () => {
      const partial = (await readdir(world.folder)).find((name) => name.endsWith('.partial'));
      return partial === undefined ? 0 : (await stat(join(world.folder, partial))).size;
    };
    await expect.poll(partialSize, { interval: 20 }).toBeGreaterThan(0);
    const closed = once(child, 'close');
    child.kill('SIGINT');
    expect(await closed).toEqual([1, null]);
    const left = await readdir(world.folder);
    expect(
      left.filter((name) => name.includes('interrupted') || name.endsWith('.partial')),
    ).toEqual([]);
  });
});
