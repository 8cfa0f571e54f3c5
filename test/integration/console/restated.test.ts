/** The changes since the sign-off over all days: sums, fields and files, compared with PostgreSQL. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readLedgerDay } from '../../../src/features/review/ledger-days.sql.ts';
import { signOffDay } from '../../../src/features/review/sign-off.sql.ts';
import { decideOpenChanges } from '../../support/account-decisions.ts';
import { lastAudit, openPagesWorld, type PagesWorld } from '../../support/pages-world.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const portuguese = { 'accept-language': 'pt-BR' };
const DAYS = 12;

let pages: PagesWorld;
beforeAll(async () => {
  pages = await openPagesWorld();
  const { world } = pages;
  const { database } = world;
  for (let index = 0; index < DAYS + 2; index += 1) {
    const date = daysFrom(index, DAY);
    const title = (uid: string, more = {}) => titleText({ uid, date, value: '100.10', ...more });
    const commission = (text: string) => title('d', { value: '1' }).replace('"0.5%"', `"${text}"`);
    const pull = async (...texts: string[]) => {
      world.sandbox.setDayTexts(date, texts);
      await world.pull(date);
      // The account that changes below is not the subject here.
      await decideOpenChanges(database);
    };
    const sign = async (by: string) => {
      const day = await readLedgerDay(database, date, TODAY);
      const seenDigest = day?.contentDigest ?? '';
      await signOffDay(database, date, { by, reason: null, seenDigest, fourEyes: true });
    };
    const rest = Array.from({ length: 8 }, (_, number) => title(`r${number}`));
    await pull(title('a'), title('b'), title('c'), commission('0.17'), ...rest);
    // The last but one stays as it was signed, and the last one is not signed.
    if (index <= DAYS) await sign(index < 3 ? 'rita' : 'helena');
    if (index === DAYS) continue;
    await pull(
      // A discount of one cent more, one title withdrawn, one new, a commission and an account restated.
      title('a', { discount: '12.35' }),
      title('b').replaceAll('7654321', '9999977'),
      commission('0.18'),
      title('n', { value: '5.00' }),
      ...rest,
    );
  }
});
afterAll(async () => {
  await pages.console.close();
  await pages.world.close();
});

const rowOf = (text: string, label: string, from = 0) => {
  const start = text.indexOf(`<th scope="row">${label}</th>`, from);
  return text
    .slice(start, text.indexOf('</tr>', start))
    .replace(/<[^>]+>/g, ' ')
    .split(/\s{2,}/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');
};

test('one click from the start page leads to all days, with their sums', async () => {
  const home = await pages.viewer.get('/');
  expect(home.text).toMatch(
    /12 days changed after the sign-off.*?<a class="button" href="\/restated">/s,
  );
  const { text, status } = await pages.viewer.get('/restated');
  expect(status).toBe(200);
  expect(text).toContain('Sum of all days (12)');
  // Each day was 11 times 100.10 and 1.00; now 100.10 less and 5.00 more.
  expect(rowOf(text, 'Original value')).toEqual([
    'Original value',
    '13,225.20',
    '12,084.00',
    '−1,141.20',
  ]);
  expect(rowOf(text, 'Titles')).toEqual(['Titles', '144', '144', '0']);
  expect(rowOf(text, 'Withdrawn')).toEqual(['Withdrawn', '0', '12', '+12']);
  const day = text.indexOf('<h2>2 Mar 2026</h2>');
  expect(rowOf(text, 'Original value', day)).toEqual([
    'Original value',
    '1,102.10',
    '1,007.00',
    '−95.10',
  ]);
  expect(text.slice(day)).toContain('Signed off by rita');
  const [sums] = await pages.world.database.prisma.$queryRaw<[{ sealed: string; present: string }]>`
    SELECT sum(seal.original_value_sum)::text AS sealed, sum(day.original_value_sum)::text AS present
    FROM conciliation.day JOIN conciliation.sign_off seal USING (date)
    WHERE restated_after_sign_off`;
  expect(sums).toEqual({ sealed: '13225.20', present: '12084.00' });
});

test('the API has the same days and sums', async () => {
  const answer = (await pages.viewer.get('/api/restated?offset=10&limit=5')).json();
  expect(answer).toMatchObject({
    total: 12,
    differences: {
      original_value_sum: { sealed: '13225.20', present: '12084.00', difference: '-1141.20' },
    },
    days: [{ date: daysFrom(10, DAY), signedOffBy: 'helena' }, { date: daysFrom(11, DAY) }],
  });
  expect((await pages.viewer.get('/api/restated?limit=1')).json()).toMatchObject({
    days: [
      {
        date: DAY,
        differences: {
          platform_discounted_value_sum: {
            sealed: '148.08',
            present: '148.09',
            difference: '0.01',
          },
        },
      },
    ],
  });
});

test('each field is below its day, masked, and the days are paged', async () => {
  const { text } = await pages.viewer.get('/restated');
  expect([...text.matchAll(/<h2>\d+ Mar 2026<\/h2>/g)]).toHaveLength(10);
  expect(text).toContain('1 to 10 of 12');
  const day = text.slice(text.indexOf('<h2>2 Mar 2026</h2>'), text.indexOf('<h2>3 Mar 2026</h2>'));
  expect(day).toMatch(/12\.34[\s\S]*→[\s\S]*12\.35/);
  expect(day).toMatch(/••••21[\s\S]*→[\s\S]*••••77/);
  for (const kind of ['Changed: 3', 'Withdrawn: 1', 'New: 1']) expect(day).toContain(kind);
  expect(text).not.toContain('9999977');
  const second = await pages.viewer.get('/restated?page=2');
  expect([...second.text.matchAll(/<h2>\d+ Mar 2026<\/h2>/g)]).toHaveLength(2);
  expect(second.text).toContain('11 to 12 of 12');
});

test('a person finds the days that this person signed off', async () => {
  const { text } = await pages.reviewer.get('/restated?mine=true');
  expect(text).toContain('All days (12)');
  expect(text).toContain('Signed off by me (3)');
  expect([...text.matchAll(/<h2>\d+ Mar 2026<\/h2>/g)]).toHaveLength(3);
  const none = await pages.viewer.get('/restated?mine=true');
  expect(none.text).toContain('No day has changed since its sign-off.');
});

test('in Portuguese amounts and commissions have decimal commas', async () => {
  const { text } = await pages.viewer.get('/restated', portuguese);
  expect(text).toContain('O que mudou desde o fechamento');
  expect(rowOf(text, 'Valor original')).toEqual([
    'Valor original',
    '13.225,20',
    '12.084,00',
    '−1.141,20',
  ]);
  expect(text).toMatch(/Comissão da plataforma[\s\S]*?0,17[\s\S]*?→[\s\S]*?0,18/);
  const list = await pages.viewer.get(`/days/${DAY}/titles?order=d`);
  const path = /href="(\/titles\/\d+)">d</.exec(list.text)?.[1] ?? '';
  expect((await pages.viewer.get(path, portuguese)).text).toMatch(
    /<dt>Comissão da plataforma<\/dt><dd>0,18<\/dd>/,
  );
  expect((await pages.viewer.get(path)).text).toMatch(/Platform commission<\/dt><dd>0\.18<\/dd>/);
  // Not a plain decimal: the text as it is.
  const other = await pages.viewer.get(`/days/${DAY}/titles?order=a`);
  const path2 = /href="(\/titles\/\d+)">a</.exec(other.text)?.[1] ?? '';
  expect((await pages.viewer.get(path2, portuguese)).text).toContain('<dd>0.5%</dd>');
});

test('totals and fields are exported whole, in the language of the reader', async () => {
  const take = async (fields: Record<string, string>, client = pages.reviewer, headers = {}) => {
    const answer = await client.post('/restated', fields, { headers });
    const [head = '', ...lines] = answer.text.slice(1).trim().split('\r\n');
    return { ...answer, head, lines };
  };
  const totals = await take({ file: 'totals' });
  expect(totals.headers['content-disposition']).toContain(`restated-totals-${TODAY}.csv`);
  expect(totals.head).toBe(
    'date,signed_off_at,signed_off_by,sealed_digest,present_digest,measure,sealed,present,difference',
  );
  expect(totals.lines).toHaveLength(12 * 9);
  expect(
    totals.lines.filter((line) => line.endsWith('original_value_sum,1102.10,1007.00,-95.10')),
  ).toHaveLength(12);
  expect(await lastAudit(pages.world)).toMatchObject({ actor: 'rita', action: 'restated.export' });
  expect((await take({ file: 'totals', mine: 'true' })).lines).toHaveLength(3 * 9);

  const fields = await take({ file: 'fields' }, pages.reviewer, portuguese);
  expect(fields.headers['content-disposition']).toContain(`alterados-campos-${TODAY}.csv`);
  expect(fields.head).toBe(
    'Data;Número do título;Pedido;Ocorrência;Mudança;Valor original;Campo;Antes;Depois;Valor antes;Valor depois;Busca',
  );
  // For each day the discount, the account, the commission, the withdrawn and the new title.
  expect(fields.lines).toHaveLength(12 * 5);
  const first = fields.lines.filter((line) =>
    line.startsWith(`${DAY.split('-').reverse().join('/')};`),
  );
  expect(
    first.filter((line) =>
      /;a;1;alterado;100,10;platformDiscountedValue;;;12,34;12,35;/.test(line),
    ),
  ).toHaveLength(1);
  expect(
    first.filter((line) => /;Comissão da plataforma;"=""0,17""";"=""0,18""";;;/.test(line)),
  ).toHaveLength(1);
  expect(
    first.filter((line) => /;Conta do fornecedor;"=""7654321""";"=""9999977""";;;/.test(line)),
  ).toHaveLength(1);
  expect(first.filter((line) => /;c;1;retirado;100,10;/.test(line))).toHaveLength(1);
  expect(first.filter((line) => /;n;1;novo;5,00;/.test(line))).toHaveLength(1);

  const masked = await take({ file: 'fields' }, pages.viewer);
  expect(masked.lines).toHaveLength(12 * 5);
  expect(masked.text).toContain('provider_account,••••21,••••77');
  expect(masked.text).not.toContain('9999977');
  expect((await take({ file: 'other' })).status).toBe(400);
});

test('an export of titles has the commission with a decimal comma in Portuguese alone', async () => {
  const take = async (headers = {}) =>
    (await pages.reviewer.post('/exports', { from: DAY, to: DAY, format: 'csv' }, { headers }))
      .text;
  expect(await take(portuguese)).toMatch(/;0,18;/);
  expect(await take()).toMatch(/,0\.18,/);
});

test('a due date that changed is written as the reader writes dates', async () => {
  const { world, viewer } = pages;
  const date = daysFrom(DAYS + 2, DAY);
  for (const dueDate of ['2026-06-30', '2026-07-15']) {
    const rest = Array.from({ length: 8 }, (_, number) => titleText({ uid: `r${number}`, date }));
    world.sandbox.setDayTexts(date, [titleText({ uid: 'moved', date, dueDate }), ...rest]);
    await world.pull(date);
  }
  const { text } = await viewer.get(`/days/${date}`, portuguese);
  expect(text).toContain('</span>30/06/2026</del>');
  expect(text).toContain('</span>15/07/2026</ins>');
});
