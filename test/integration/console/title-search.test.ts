/** The list of titles shows what it says: every title that matches, counted and summed. */
import { beforeAll, describe, expect, test } from 'vitest';
import { match, payablesOf } from '../../support/matching-world.ts';
import { pagesForFile } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';
import { providerOf, writeProviders } from '../../support/provider-rows.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const DUE = '2026-12-10';
const portuguese = { 'accept-language': 'pt-BR' };

const BIG = titleText({
  uid: 'BIG',
  value: '1234.56',
  dueDate: '2027-01-01',
  code: 'P-9',
  agent: '12345678e00131',
  taxId: '98765432100',
  buyer: '98765432000198',
});

const { world, viewer } = pagesForFile();
beforeAll(async () => {
  // One title in each of 70 acceptance dates, all due on the same date; values 1 to 70.
  for (let index = 0; index < 70; index += 1) {
    const date = daysFrom(index, DAY);
    await world.serve(date, [
      titleText({
        uid: `PO-2026-${String(index).padStart(4, '0')}`,
        date,
        value: String(index + 1),
        dueDate: DUE,
        name: index === 3 ? 'Falcão Crédito' : 'Banco',
        // As some platforms write it, with its mask.
        ...(index === 5 && { taxId: '98.765.432/0001-98' }),
      }),
      ...(index === 0 ? [BIG] : []),
    ]);
  }
  const supplier = { externalId: 'P-1', type: 'COMPANY', name: 'Aço São José Ltda' };
  await writeProviders(world.database, [
    providerOf(1, { ...supplier, identificationNumber: '90021382000122' }),
  ]);
});

test.each(['e2|000771', 'NF-000771'])('the box finds a title by payable %j', async (written) => {
  const payable = `E2|000771 10 order=PO-2026-0009 doc=NF-000771 due=${DUE}`;
  await importPayables(world.database, payablesOf(payable));
  await match(world.database);
  expect((await submit({ search: written })).uids).toEqual(['PO-2026-0009']);
});

const uids = (text: string) =>
  [...text.matchAll(/href="\/titles\/\d+">([^<]+)</g)].map((match) => match[1]);
const search = async (query: string, headers = {}) => {
  const { text, status } = await viewer.get(`/titles?${query}`, headers);
  expect(status).toBe(200);
  return { text, uids: uids(text) };
};

/** Fills the form in and follows where it leads. */
async function submit(fields: Record<string, string>) {
  const answer = await viewer.post('/titles', fields, { headers: portuguese });
  const { location } = answer.headers;
  const { text } = answer.status === 303 ? await viewer.get(`${location}`) : answer;
  return { text, uids: uids(text), location };
}

test.each([
  ['  po-2026- 0007 ', ['PO-2026-0007']],
  ['R$ 8,00', ['PO-2026-0007']],
  ['R$ 1.234,56', ['BIG']],
  ['1 234,56', ['BIG']],
  ['falcao', ['PO-2026-0003']],
])('one box finds %j as people write it, at an address to keep', async (written, found) => {
  const answer = await submit({ search: written, from: '' });
  expect(answer.uids).toEqual(found);
  expect(answer.location).toBe(`/titles?${new URLSearchParams({ search: written.trim() })}`);
});

test.each([
  ['98.765.432/0001-98', 'PO-2026-0005'],
  [' 98 765 432 0001 98 ', 'PO-2026-0005'],
  ['12345678E00131', 'BIG'],
  ['987.654.321-00', 'BIG'],
  ['90.021.382/0001-22', 'PO-2026-0069'],
])(
  'the box finds the titles of the CPF or CNPJ %j, which gets into no address',
  async (written, uid) => {
    const { text, uids: found, location } = await submit({ search: written });
    expect(location).toBeUndefined();
    expect(found).toContain(uid);
    const bare = written.replace(/[./ -]/g, '');
    for (const [, address = ''] of text.matchAll(/(?:href|action)="([^"]*)"/g)) {
      expect(decodeURIComponent(address).replace(/[./+ -]/g, '')).not.toContain(bare);
    }
  },
);

test('a part of an identifier finds nothing, and an address with one shows no other titles', async () => {
  expect((await submit({ search: '987654320' })).uids).toEqual([]);
  expect((await search('minValue=R%24+70%2C00', portuguese)).uids).toEqual(['PO-2026-0069', 'BIG']);
});

test('a search by due date finds the titles of all acceptance dates', async () => {
  const { text } = await search(`dueFrom=${DUE}&dueTo=${DUE}`);
  expect(text).toContain('1 to 50 of 70');
  expect(text).toMatch(/<tfoot>.*>2,485\.00</s);
});

test.each([
  ['a part of the order, in lower case', 'search=po-2026-000', 10],
  ['the name of the agent in capitals, with its accent', 'search=FALC%C3%83O', 1],
  ['the name of the provider without accents', 'search=sao+jose', 70],
  ['signs that SQL takes for patterns', 'search=%25_', 0],
  ['one amount', 'minValue=70&maxValue=70', 1],
])('%s', async (_, query, count) => {
  const { text, uids: shown } = await search(query);
  expect(shown).toHaveLength(Math.min(count, 50));
  if (count > 0) expect(text).toContain(` of ${count}</p>`);
});

describe('amounts', () => {
  test.each([
    ['1.000', 'pt-BR', 1],
    ['69', 'pt-BR', 3],
    ['69,5', 'pt-BR', 2],
    ['69.5', 'pt-BR', 2],
    ['1,000', 'en', 1],
    ['69.5', 'en', 2],
  ])('from %s (%s)', async (amount, language, count) => {
    const headers = { 'accept-language': language };
    const { uids: shown } = await search(`minValue=${encodeURIComponent(amount)}`, headers);
    expect(shown).toHaveLength(count);
  });

  test('that cannot be read are refused in the language of the reader', async () => {
    const { status, text } = await viewer.get('/titles?minValue=1.00.0', portuguese);
    expect([status, text]).toEqual([400, expect.stringContaining('Valor de: informe um único')]);
  });
});
