/** How people acknowledge what responses have beyond the documented interface. */
import { beforeEach, expect, test } from 'vitest';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const pages = pagesForFile();
const { world } = pages;

let days = 0;
beforeEach(async () => {
  days += 1;
  await world.database.prisma.$executeRaw`DELETE FROM conciliation.drift`;
});

/** Pulls a date whose title has fields of these names. */
async function meet(...names: string[]): Promise<bigint> {
  days += 1;
  const date = daysFrom(days);
  const more = names.map((name) => `,${JSON.stringify(name)}:"CANARY"`).join('');
  world.sandbox.setDayTexts(date, [titleText({ date, more })]);
  return (await world.pull(date)).pullId;
}

const readDrift = () => world.database.prisma.drift.findMany({ orderBy: { path: 'asc' } });
const digestOf = (page: string) => /name="digest" value="([^"]+)"/.exec(page)?.[1] ?? '';

test('one form with a reason acknowledges the open items, whose values no page shows', async () => {
  const { viewer, reviewer } = pages;
  await meet('campaign', 'batch');
  expect((await viewer.get('/alerts')).text).not.toMatch(/CANARY|drift\/acknowledge/);
  const digest = digestOf((await reviewer.get('/alerts')).text);
  for (const reason of ['', ' \t ']) {
    expect((await reviewer.post('/drift/acknowledge', { digest, reason })).status).toBe(400);
  }
  expect((await readDrift()).map((row) => row.acknowledgedAt)).toEqual([null, null]);
  const done = await reviewer.post('/drift/acknowledge', { digest, reason: 'announced' });
  expect([done.status, done.location]).toEqual([303, '/alerts?notice=drift_acknowledged']);
  expect(await lastAudit(world)).toMatchObject({
    actor: 'rita',
    action: 'drift.acknowledge',
    reason: 'announced',
    details: { rows: 2 },
  });
  expect((await viewer.get('/alerts')).text).not.toContain('Unknown field');
});

test('items that came after the page was loaded are not acknowledged from that page', async () => {
  const { operator } = pages;
  await meet('first');
  const digest = digestOf((await operator.get('/alerts')).text);
  await meet('second');
  const refused = await operator.post('/drift/acknowledge', { digest, reason: 'announced' });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('look')]);
  expect((await readDrift()).map((row) => row.acknowledgedAt)).toEqual([null, null]);
});
