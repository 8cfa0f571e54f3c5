/** The findings depend on the titles of the days, and not on the order of a response. */
import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { DEFAULT_SEVERITIES } from '../../../src/base/values/checks.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { createSeededRandom, type SeededRandom } from '../../../src/demo/synthetic-titles.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { daysFrom, type PullWorld, worldOfFile } from '../../support/pull-world.ts';
import { shuffled, tryHistories } from '../../support/random-runs.ts';
import { titleText } from '../../support/titles.ts';

const worlds = [worldOfFile(), worldOfFile()] as const;

const DUES = ['2026-03-01', '2026-06-30', '2030-01-01'];
const TAX_IDS = ['52998224725', '52998224726', '11222333000181'];

/** Few orders and values, so that titles are often equal, restated or faulty. */
function someTitles(date: CivilDate, random: SeededRandom): string[] {
  return Array.from({ length: random(7) }, () =>
    titleText({
      date,
      uid: `o${random(3)}`,
      value: ['0', '10.00', '1000.00', '-1'][random(4)] ?? '10.00',
      discount: ['0.10', '10.00', '1000'][random(3)] ?? '1',
      dueDate: DUES[random(3)] ?? '2026-06-30',
      taxId: TAX_IDS[random(3)] ?? '',
    }),
  );
}

/** The findings without the ids of titles, which follow the order of the response. */
async function findingsOf(world: PullWorld): Promise<unknown[]> {
  const { rows } = await world.database.pool.query(`
    SELECT finding.accepted_date::text AS date, finding.code, finding.severity, finding.content_hash::text AS content,
           finding.detail - 'otherTitle' AS detail, finding.closed_at IS NULL AS open,
           finding.resolved_at IS NULL AS unresolved
    FROM conciliation.check_finding AS finding WHERE closed_at IS NULL
    ORDER BY 1, 2, 4, 5::text`);
  return rows;
}

test('random histories have the same findings in any order of the responses', async () => {
  let found = 0;
  await tryHistories(30, async (seed) => {
    const random = createSeededRandom(`${seed}`);
    const date = daysFrom(random(4) + 4 * Math.floor(seed / 50));
    const titles = someTitles(date, random);
    for (const world of worlds) {
      await world
        .serve(date, shuffled(titles, random), { withdrawalLimitPercent: 100 })
        .catch(() => undefined);
      await releaseHeld(world);
      await checkDays(world.database, DEFAULT_SEVERITIES);
      await checkDays(world.database, DEFAULT_SEVERITIES);
    }
    const [first, second] = [await findingsOf(worlds[0]), await findingsOf(worlds[1])];
    expect({ seed, findings: second }).toEqual({ seed, findings: first });
    found = Math.max(found, first.length);
  });
  expect(found).toBeGreaterThan(20);
}, 0);

/** An answer without a title is held for any limit. */
async function releaseHeld(world: PullWorld): Promise<void> {
  const held = await world.prisma.pull.findMany({ where: { state: 'held' } });
  for (const { id } of held) {
    await releasePull(world.parts, id, { by: 'test', reason: 'the titles are gone' });
  }
}
