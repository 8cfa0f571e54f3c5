/** The changes since the sign-off over all days: sums, fields and files, compared with PostgreSQL. */
import { beforeAll, expect, test } from 'vitest';
import { decideOpenChanges } from '../../support/account-decisions.ts';
import { signDay } from '../../support/days.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const portuguese = { 'accept-language': 'pt-BR' };
const DAYS = 12;

const pages = pagesForFile();
beforeAll(async () => {
  const { world } = pages;
  const { database } = world;
  for (let index = 0; index < DAYS + 2; index += 1) {
    const date = daysFrom(index, DAY);
    const title = (uid: string, more = {}) => titleText({ uid, date, value: '100.10', ...more });
    const commission = (text: string) => title('d', { value: '1' }).replace('"0.5%"', `"${text}"`);
    const pull = async (...texts: string[]) => {
      await world.serve(date, texts);
      // The account that changes below is not the subject here.
      await decideOpenChanges(database);
    };
    const rest = Array.from({ length: 8 }, (_, number) => title(`r${number}`));
    await pull(title('a'), title('b'), title('c'), commission('0.17'), ...rest);
    // The last but one stays as it was signed, and the last one is not signed.
    if (index <= DAYS)
      await signDay(database, date, { by: index < 3 ? 'rita' : 'helena', bookingsFrom: null });
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

/** The cells of the row of a date, or of the sums. */
const rowOf = (text: string, head: string) => {
  const start = text.indexOf(`>${head}</`);
  return text
    .slice(start + 1, text.indexOf('</tr>', start))
    .split(/<\/t[dh]>/)
    .map((cell) => cell.replace(/<[^>]+>/g, '').trim())
    .filter((cell) => cell !== '');
};

test('one click from the start page leads to all days, with their sums', async () => {
  const home = await pages.viewer.get('/');
  expect(home.text).toMatch(
    /12 days changed after the sign-off.*?<a class="button" href="\/restated">/s,
  );
  const { text, status } = await pages.viewer.get('/restated');
  expect(status).toBe(200);
  expect(text).toContain('1 to 10 of 12');
  // Each day was 11 times 100.10 and 1.00; now 100.10 less and 5.00 more.
  expect(rowOf(text, 'Sum')).toEqual(['Sum', '13,225.20', '12,084.00', '−1,141.20']);
  const day = rowOf(text, '2 Mar 2026');
  expect(day.slice(0, 2)).toEqual(['2 Mar 2026', 'rita']);
  expect(day.slice(3)).toEqual(['Original value', '1,102.10', '1,007.00', '−95.10']);
  const [sums] = await pages.world.database.prisma.$queryRaw<[{ sealed: string; present: string }]>`
    SELECT sum(seal.original_value_sum)::text AS sealed, sum(day.original_value_sum)::text AS present
    FROM conciliation.day JOIN conciliation.sign_off seal USING (date)
    WHERE restated_after_sign_off`;
  expect(sums).toEqual({ sealed: '13225.20', present: '12084.00' });
});

test.each([
  ['title_count', ['144', '144', '0']],
  ['withdrawn_count', ['0', '12', '12']],
  ['platform_discounted_value_sum', ['1,776.96', '1,777.08', '0.12']],
])('the sum of %s is that of the seals and of the present days', async (measure, sums) => {
  const { text } = await pages.viewer.get(`/restated?measure=${measure}`);
  expect(rowOf(text, 'Sum').slice(1)).toEqual(sums);
});

test('the API has the same days and sums', async () => {
  const answer = (await pages.viewer.get('/api/restated?offset=10&limit=5')).json();
  expect(answer).toMatchObject({
    total: 12,
    sums: { sealed: '13225.20', present: '12084.00', difference: '-1141.20' },
    rows: [{ date: daysFrom(10, DAY), signedOffBy: 'helena' }, { date: daysFrom(11, DAY) }],
  });
  const all = (await pages.viewer.get('/api/restated?measure=all&limit=9')).json();
  expect(all).toMatchObject({ total: 12 * 9 });
  expect(all.rows[3]).toMatchObject({ date: DAY, measure: 'original_value_sum' });
  expect(all.rows[4]).toMatchObject({
    measure: 'platform_discounted_value_sum',
    sealed: '148.08',
    present: '148.09',
    difference: '0.01',
  });
});

test('each field is on the page of its day, masked', async () => {
  const { text } = await pages.viewer.get(`/days/${DAY}`);
  expect(text).toMatch(/12\.34[\s\S]*→[\s\S]*12\.35/);
  expect(text).toMatch(/••••21[\s\S]*→[\s\S]*••••77/);
  for (const kind of ['Changed: 3', 'Withdrawn: 1', 'New: 1']) expect(text).toContain(kind);
  expect(text).not.toContain('9999977');
});

test('a person finds the days that this person signed off', async () => {
  const { text } = await pages.reviewer.get('/restated');
  expect(text).toContain('<a href="/restated?by=rita">Signed off by me</a>');
  const own = await pages.reviewer.get('/restated?by=rita');
  expect(own.text).toContain('1 to 3 of 3');
  const none = await pages.viewer.get('/restated?by=vera');
  expect(none.text).toContain('No day has changed since its sign-off.');
});

test('in Portuguese amounts and commissions have decimal commas', async () => {
  const { text } = await pages.viewer.get('/restated', portuguese);
  expect(text).toContain('O que mudou desde o fechamento');
  expect(rowOf(text, 'Total').slice(1)).toEqual(['13.225,20', '12.084,00', '−1.141,20']);
  const day = await pages.viewer.get(`/days/${DAY}`, portuguese);
  expect(day.text).toMatch(/Comissão da plataforma[\s\S]*?0,17[\s\S]*?→[\s\S]*?0,18/);
  const list = await pages.viewer.get(`/titles?from=${DAY}&to=${DAY}&order=d`);
  const path = /href="(\/titles\/\d+)">d</.exec(list.text)?.[1] ?? '';
  expect((await pages.viewer.get(path, portuguese)).text).toMatch(
    /<dt>Comissão da plataforma<\/dt><dd>0,18<\/dd>/,
  );
  expect((await pages.viewer.get(path)).text).toMatch(/Platform commission<\/dt><dd>0\.18<\/dd>/);
  // Not a plain decimal: the text as it is.
  const other = await pages.viewer.get(`/titles?from=${DAY}&to=${DAY}&order=a`);
  const path2 = /href="(\/titles\/\d+)">a</.exec(other.text)?.[1] ?? '';
  expect((await pages.viewer.get(path2, portuguese)).text).toContain('<dd>0.5%</dd>');
});

test('the changed fields are exported whole, in the language of the reader', async () => {
  const take = async (fields: Record<string, string>, client = pages.reviewer, headers = {}) => {
    const answer = await client.post('/restated', fields, { headers });
    const [head = '', ...lines] = answer.text.slice(1).trim().split('\r\n');
    return { ...answer, head, lines };
  };
  const fields = await take({}, pages.reviewer, portuguese);
  expect(await lastAudit(pages.world)).toMatchObject({ actor: 'rita', action: 'restated.export' });
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

  expect((await take({ by: 'rita' })).lines).toHaveLength(3 * 5);
  const masked = await take({}, pages.viewer);
  expect(masked.lines).toHaveLength(12 * 5);
  expect(masked.text).toContain('provider_account,••••21,••••77');
  expect(masked.text).not.toContain('9999977');
});

test('an export of titles has the commission with a decimal comma in Portuguese alone', async () => {
  const take = async (headers = {}) =>
    (await pages.reviewer.post('/titles/file', { from: DAY, to: DAY, format: 'csv' }, { headers }))
      .text;
  expect(await take(portuguese)).toMatch(/;0,18;/);
  expect(await take()).toMatch(/,0\.18,/);
});

test('a due date that changed is written as the reader writes dates', async () => {
  const { world, viewer } = pages;
  const date = daysFrom(DAYS + 2, DAY);
  for (const dueDate of ['2026-06-30', '2026-07-15']) {
    const rest = Array.from({ length: 8 }, (_, number) => titleText({ uid: `r${number}`, date }));
    await world.serve(date, [titleText({ uid: 'moved', date, dueDate }), ...rest]);
  }
  const { text } = await viewer.get(`/days/${date}`, portuguese);
  expect(text).toContain('</span>30/06/2026</del>');
  expect(text).toContain('</span>15/07/2026</ins>');
});
