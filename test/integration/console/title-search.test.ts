/** The list of titles shows what it says: every title that matches, counted and summed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ConsoleClient,
  type ConsoleWorld,
  openConsole,
} from '../../support/console-client.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const DUE = '2026-12-10';
const portuguese = { 'accept-language': 'pt-BR' };

let world: PullWorld;
let console: ConsoleWorld;
let viewer: ConsoleClient;
beforeAll(async () => {
  world = await openPullWorld();
  // One title in each of 70 acceptance dates, all due on the same date; values 1 to 70.
  for (let index = 0; index < 70; index += 1) {
    const date = daysFrom(index, DAY);
    world.sandbox.setDayTexts(date, [
      titleText({
        uid: `PO-2026-${String(index).padStart(4, '0')}`,
        date,
        value: String(index + 1),
        dueDate: DUE,
        name: index === 3 ? 'Falcão Crédito' : 'Banco',
      }),
    ]);
    await world.pull(date);
  }
  await world.database.prisma.provider.create({
    data: {
      externalId: 'P-1',
      type: 'COMPANY',
      identificationNumber: '90021382000122',
      name: 'Aço São José Ltda',
    },
  });
  console = await openConsole(world.database);
  viewer = await console.as('viewer', 'vera');
});
afterAll(async () => {
  await console.close();
  await world.close();
});

const uids = (text: string) =>
  [...text.matchAll(/href="\/titles\/\d+">([^<]+)</g)].map((match) => match[1]);
const search = async (query: string, headers = {}) => {
  const { text, status } = await viewer.get(`/titles?${query}`, headers);
  expect(status).toBe(200);
  return { text, uids: uids(text) };
};

test('one box finds an order, a value or a name as people write them', async () => {
  const found = async (text: string) =>
    (await search(new URLSearchParams({ search: text }).toString(), portuguese)).uids;
  expect(await found('  po-2026- 0007 ')).toEqual(['PO-2026-0007']);
  for (const value of ['R$ 8,00', '8,00', 'r$8']) {
    expect(await found(value)).toContain('PO-2026-0007');
  }
  expect(await found('falcao')).toEqual(['PO-2026-0003']);
  const none = await search('search=90.021.382%2F0001-22', portuguese);
  expect(none.text).toContain('href="/providers"');
  expect((await search('minValue=R%24+70%2C00', portuguese)).uids).toEqual(['PO-2026-0069']);
});

test('a search by due date finds the titles of all acceptance dates', async () => {
  const { text, uids: first } = await search(`dueFrom=${DUE}&dueTo=${DUE}`);
  expect(text).toContain('50 of 70 titles shown. Original value of all current ones: 2,485.00');
  const next = /rel="next" href="\?([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const second = await search(next);
  expect(new Set([...first, ...second.uids]).size).toBe(70);
});

test('without a filter the list has all titles, the newest first, and their number', async () => {
  const { text, uids: shown } = await search('');
  expect(text).toContain('50 of 70 titles shown');
  expect(shown[0]).toBe('PO-2026-0069');
});

test('the titles of many days are sorted by any column', async () => {
  const { uids: shown } = await search('sort=value&direction=ascending&minValue=3&maxValue=5');
  expect(shown).toEqual(['PO-2026-0002', 'PO-2026-0003', 'PO-2026-0004']);
});

test.each([
  ['a part of the order, in lower case', 'order=po-2026-000', 10],
  ['the whole order in lower case', 'order=po-2026-0007', 1],
  ['the name of the agent without its accent', 'agent=falcao', 1],
  ['the name of the agent in capitals, with its accent', 'agent=FALC%C3%83O', 1],
  ['the code of the provider in lower case', 'provider=p-1', 70],
  ['the name of the provider without accents', 'provider=sao+jose', 70],
  ['an unknown provider', 'provider=P-2', 0],
])('%s', async (_, query, count) => {
  const { text, uids: shown } = await search(query);
  expect(shown).toHaveLength(Math.min(count, 50));
  if (count > 0) expect(text).toContain(`of ${count} titles shown`);
});

describe('amounts', () => {
  test.each([
    ['1.000', 'pt-BR', 0],
    ['69', 'pt-BR', 2],
    ['69,5', 'pt-BR', 1],
    ['69.5', 'pt-BR', 1],
    ['1,000', 'en', 0],
    ['69.5', 'en', 1],
  ])('from %s (%s)', async (amount, language, count) => {
    const headers = { 'accept-language': language };
    const { uids: shown } = await search(`minValue=${encodeURIComponent(amount)}`, headers);
    expect(shown).toHaveLength(count);
  });

  test('that cannot be read are named and not applied', async () => {
    const english = await search('minValue=a+lot');
    expect(english.text).toContain('Not applied, because the value could not be read: Value from.');
    const brazilian = await search('minValue=1.00.0', portuguese);
    expect(brazilian.text).toContain('o valor não pôde ser lido: Valor de.');
    expect(brazilian.uids).toHaveLength(50);
  });
});
