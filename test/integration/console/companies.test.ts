/** The page of companies and agents: proposals, confirmations in bulk, their ends, rights. */
import { beforeAll, expect, test } from 'vitest';
import { isMatchingDue } from '../../../src/features/matching/run-matching.sql.ts';
import { match, payablesOf, pullTitles, TITLE_BUYER } from '../../support/matching-world.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';

const OTHER_BUYER = '44555666000181';
const reason = { reason: 'list of branches' };

const { world, viewer, reviewer } = pagesForFile();
beforeAll(async () => {
  await pullTitles(world, [
    { uid: 'a', value: '10', buyer: '90.021.382/0001-22' },
    { uid: 'b', value: '20', buyer: OTHER_BUYER },
    { uid: 'c', value: '30' },
  ]);
  const payables =
    'k1 10 order=a company=01, k2 20 order=b company=02, k3 30 company=01, k4 99 company=03 due=2026-12-01';
  await importPayables(world.database, payablesOf(payables), 'snapshot');
  await match(world.database);
});

const mapped = async () => {
  const orderBy = { company: 'asc' } as const;
  const where = { endedAt: null };
  const rows = await world.prisma.companyBuyer.findMany({ where, orderBy });
  return rows.map(({ company, buyer }) => `${company} ${buyer}`);
};
const matched = () => world.prisma.titleMatch.count({ where: { endedAt: null } });

test('companies are listed with the buyers of matches by the order, and confirmed together', async () => {
  const start = await viewer.get('/');
  expect(start.text).toContain('3 companies of the ERP have no confirmed buyer');
  const list = (await viewer.get('/companies')).text;
  expect(list).toContain(`${TITLE_BUYER} (matches: 1)`);
  expect(list).not.toContain('action="/companies"');
  const page = (await reviewer.get('/companies')).text;
  const pairs = [...page.matchAll(/name="pair" value="([^"]+)" checked/g)].map(([, pair]) => pair);
  expect(pairs).toEqual([`${TITLE_BUYER} 01`, `${OTHER_BUYER} 02`]);
  expect(await matched()).toBe(2);

  const fields = { pair: pairs.map(String), company: '03', buyer: '33.444.555/0001-81' };
  expect((await reviewer.post('/companies', fields)).status).toBe(400);
  const sent = await reviewer.post('/companies', { ...fields, ...reason });
  expect(sent.location).toBe('/companies?notice=confirmed');
  expect(await mapped()).toEqual([`01 ${TITLE_BUYER}`, `02 ${OTHER_BUYER}`, '03 33444555000181']);
  const audited = { actor: 'rita', action: 'company.confirm', ...reason };
  expect(await lastAudit(world)).toMatchObject(audited);
  expect(await isMatchingDue(world.database, 24)).toBe(true);
  await match(world.database);
  expect(await matched()).toBe(3);
  expect((await viewer.get('/')).text).not.toContain('without a confirmed buyer');
});

test('a confirmation ends, and the company is listed again', async () => {
  const page = (await reviewer.get('/companies')).text;
  const [, id = ''] = /\/companies\/(\d+)\/end/.exec(page) ?? [];
  await reviewer.post(`/companies/${id}/end`, reason);
  expect(await mapped()).toEqual([`02 ${OTHER_BUYER}`, '03 33444555000181']);
  expect(await lastAudit(world)).toMatchObject({ action: 'company.end' });
  expect((await reviewer.get('/companies')).text).toContain(`value="${TITLE_BUYER} 01"`);
});

test('two CNPJs of one agent are confirmed once, and the confirmation ends', async () => {
  const { prisma } = world;
  const confirm = (taxId: string, sameAs: string) =>
    reviewer.post('/agents', { taxId, sameAs, ...reason });
  await confirm('44.555.666/0001-81', '11222333000181');
  await confirm('11222333000181', '44.555.666/0001-81');
  const rows = await prisma.partyEquivalent.findMany();
  expect(rows).toMatchObject([{ taxId: '11222333000181', sameAs: OTHER_BUYER, endedAt: null }]);
  const own = await confirm(OTHER_BUYER, '44555666000262');
  expect(own.text).toContain('The two CNPJs are of one company.');
  await reviewer.post(`/agents/${rows[0]?.id}/end`, reason);
  expect(await prisma.partyEquivalent.count({ where: { endedAt: null } })).toBe(0);
});
