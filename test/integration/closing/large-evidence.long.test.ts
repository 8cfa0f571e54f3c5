/** The evidence of a month with many titles is streamed, and the verifier reads it as a stream too. */
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { computedContentHash } from '../../../src/core/title/title-hashes.sql.ts';
import { unzip } from '../../unit/export/workbook-reader.ts';
import { type ExportWorld, openExportWorld } from '../export/export-fixture.ts';

/** Far more than any buffer on the way holds. */
const ROWS = 150_000;
/** On top of what the program takes for a month without titles. A month held in memory would be hundreds. */
const GROWTH_MB = 80;
const WRITE_EVIDENCE = join(import.meta.dirname, 'write-evidence.mjs');
const PEAK = join(import.meta.dirname, '../export/report-peak-memory.mjs');

let world: ExportWorld;
beforeAll(async () => {
  world = await openExportWorld();
  const { client } = world;
  await client.query(`
    INSERT INTO conciliation.checkpoint (start_date) VALUES ('2026-02-27');
    INSERT INTO conciliation.pull (id, origin, date, requested_by, fence)
    VALUES (1, 'manual', '2026-02-27', 'test', 1)`);
  for (const date of ['2026-03-29', '2026-03-30', '2026-03-31']) {
    await world.insertTitles(date, ROWS / 3);
  }
  // The fixture makes up the content hashes.
  const hash = computedContentHash(toCivilDate('2026-03-29'));
  await client.query(`UPDATE conciliation.title SET content_hash = ${hash.text}`, hash.values);
  await client.query(`
    INSERT INTO conciliation.day (date, state)
    SELECT date::date, 'reconciled'
    FROM generate_series('2026-02-27'::timestamp, '2026-03-31', '1 day') AS date;
    UPDATE conciliation.day SET signed_off_at = now(), signed_off_by = 'ana', signed_off_digest = '';
    INSERT INTO conciliation.sign_off
      (date, signed_off_by, fence, content_digest, title_count, withdrawn_count, rejected_count,
       original_value_sum, platform_discounted_value_sum, financial_discounted_value_sum,
       buyer_discounted_value_sum, billing_fee_sum, money_transfer_fee_sum)
    SELECT day.date, 'ana', 1,
           encode(sha256(coalesce(string_agg(uuid_send(content_hash), '' ORDER BY content_hash), '')), 'hex'),
           count(title.id), 0, 0, coalesce(sum(original_value), 0),
           coalesce(sum(platform_discounted_value), 0), 0, 0, coalesce(sum(billing_fee), 0), 0
    FROM conciliation.day LEFT JOIN conciliation.title ON title.accepted_date = day.date
    GROUP BY day.date`);
});
afterAll(() => world.close());

const run = (program: readonly string[]) =>
  spawnSync(process.execPath, ['--import', PEAK, ...program], {
    cwd: world.folder,
    env: { PATH: process.env['PATH'] },
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  });
const peakOf = (stderr: string) => Number(/peak (\d+) MB/.exec(stderr)?.[1]);

test('memory does not grow with the month', async () => {
  const evidence = (month: string) => {
    const file = join(world.folder, `${month}.zip`);
    const { status, stderr } = run([WRITE_EVIDENCE, world.url, month, file]);
    expect([status, stderr]).toEqual([0, expect.stringContaining('peak')]);
    return peakOf(stderr);
  };
  const idle = evidence('2026-02');
  const peak = evidence('2026-03');
  expect(peak - idle).toBeLessThan(GROWTH_MB);

  const folder = join(world.folder, 'unpacked');
  for (const [name, content] of unzip(await readFile(join(world.folder, '2026-03.zip')))) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  // Less than the titles of the month take.
  const { status, stdout } = run(['--max-old-space-size=64', join(folder, 'verify.mjs'), 'en']);
  expect([status, stdout]).toEqual([0, expect.stringContaining('Everything agrees.')]);
});
