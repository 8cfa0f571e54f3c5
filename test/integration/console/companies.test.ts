/** The page of companies and agents: proposals, confirmations in bulk, their ends, rights. */
import { beforeAll, expect, test } from 'vitest';
import { isMatchingDue } from '../../../src/features/matching/run-matching.sql.ts';
import { clearMatching, match, pullTitles, TITLE_BUYER } from '../../support/matching-world.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';

const OTHER_BUYER = '44555666000181';
const reason = { reason: 'list of branches' };

const pages = pagesForFile();
beforeAll(async () => {
  const { world } = pages;
  await clearMatching(world.database);
  await pullTitles(world, [
    { uid: 'a', value: '10', buyer: '90.021.382/0001-22' },
    { uid: 'b', value: '20', buyer: OTHER_BUYER },
    { uid: 'c', value: '30' },
  ]);
  await importPayables(
    world.database,
    [
      { erpKey: 'k1', openValue: '10', orderUid: 'a', company: '01' },
      { erpKey: 'k2', openValue: '20', orderUid: 'b', company: '02' },
      { erpKey: 'k3', openValue: '30', company: '01' },
      { erpKey: 'k4', openValue: '99', company: '03', dueDate: '2026-12-01' },
    ],
    'snapshot',
  );
  await match(world.database);
});

const mapped = async () => {
  const rows = await pages.world.database.prisma.companyBuyer.findMany({
    where: { endedAt: null },
    orderBy: { company: 'asc' },
  });
  return rows.map(({ company, buyer }) => `${company} ${buyer}`);
};
const matched = () => pages.world.database.prisma.titleMatch.count({ where: { endedAt: null } });

test('companies are listed with the buyers of matches by the order, and confirmed together', async () => {
  const start = await pages.viewer.get('/');
  expect(start.text).toContain('3 companies of the ERP have no confirmed buyer');
  const list = (await pages.viewer.get('/companies')).text;
  expect(list).toContain(`${TITLE_BUYER} (matches: 1)`);
  expect(list).not.toContain('action="/companies"');
  const page = (await pages.reviewer.get('/companies')).text;
  const pairs = [...page.matchAll(/name="pair" value="([^"]+)" checked/g)].map(([, pair]) => pair);
  expect(pairs).toEqual([`${TITLE_BUYER} 01`, `${OTHER_BUYER} 02`]);
  expect(await matched()).toBe(2);

  const fields = { pair: pairs.map(String), company: '03', buyer: '33.444.555/0001-81' };
  expect((await pages.reviewer.post('/companies', fields)).status).toBe(400);
  const sent = await pages.reviewer.post('/companies', { ...fields, ...reason });
  expect(sent.location).toBe('/companies?notice=confirmed');
  expect(await mapped()).toEqual([`01 ${TITLE_BUYER}`, `02 ${OTHER_BUYER}`, '03 33444555000181']);
  expect(await lastAudit(pages.world)).toMatchObject({
    actor: 'rita',
    action: 'company.confirm',
    ...reason,
  });
  expect(await isMatchingDue(pages.world.database, 24)).toBe(true);
  await match(pages.world.database);
  expect(await matched()).toBe(3);
  expect((await pages.viewer.get('/')).text).not.toContain('without a confirmed buyer');
});

test('a confirmation ends, and the company is listed again', async () => {
  const page = (await pages.reviewer.get('/companies')).text;
  const [, id = ''] = /\/companies\/(\d+)\/end/.exec(page) ?? [];
  await pages.reviewer.post(`/companies/${id}/end`, reason);
  expect(await mapped()).toEqual([`02 ${OTHER_BUYER}`, '03 33444555000181']);
  expect(await lastAudit(pages.world)).toMatchObject({ action: 'company.end' });
  expect((await pages.reviewer.get('/companies')).text).toContain(`value="${TITLE_BUYER} 01"`);
});

test('two CNPJs of one agent are confirmed once, and the confirmation ends', async () => {
  const { prisma } = pages.world.database;
  const agents = { taxId: '44.555.666/0001-81', sameAs: '11222333000181' };
  await pages.reviewer.post('/agents', { ...agents, ...reason });
  await pages.reviewer.post('/agents', { taxId: agents.sameAs, sameAs: agents.taxId, ...reason });
  const rows = await prisma.partyEquivalent.findMany();
  expect(rows).toMatchObject([{ taxId: '11222333000181', sameAs: OTHER_BUYER, endedAt: null }]);
  const own = { taxId: OTHER_BUYER, sameAs: '44555666000262' };
  expect((await pages.reviewer.post('/agents', { ...own, ...reason })).text).toContain(
    'The two CNPJs are of one company.',
  );
  await pages.reviewer.post(`/agents/${rows[0]?.id}/end`, reason);
  expect(await prisma.partyEquivalent.count({ where: { endedAt: null } })).toBe(0);
});
