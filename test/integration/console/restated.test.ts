/** The changes since the sign-off over all days: sums, fields and files, compared with PostgreSQL. */
import { beforeAll, expect, test } from 'vitest';
import { decideOpenChanges } from '../../support/account-decisions.ts';
import { signDay } from '../../support/days.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const DAYS = 12;

const { world, viewer, reviewer } = pagesForFile();
beforeAll(async () => {
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
    const rest = titleTexts(8, { uid: 'r', date, value: '100.10' });
    await pull(title('a'), title('b'), title('c'), commission('0.17'), ...rest);
    // The last but one stays as it was signed, and the last one is not signed.
    if (index <= DAYS)
      await signDay(database, date, { by: index < 3 ? 'rita' : 'helena', bookingsFrom: null });
    if (index === DAYS) continue;
    await pull(
      // A discount of one cent more, one title withdrawn, one new, a commission and an account restated.
      title('a', { discount: '12.35' }),
      title('b', { account: '9999977' }),
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
  const home = await viewer.get('/');
  expect(home.text).toMatch(
    /12 days changed after the sign-off.*?<a class="button" href="\/restated">/s,
  );
  const { text, status } = await viewer.get('/restated');
  expect(status).toBe(200);
  expect(text).toContain('1 to 10 of 12');
  // Each day was 11 times 100.10 and 1.00; now 100.10 less and 5.00 more.
  expect(rowOf(text, 'Sum')).toEqual(['Sum', '13,225.20', '12,084.00', '−1,141.20']);
  const day = rowOf(text, '2026-03-02');
  expect(day.slice(0, 2)).toEqual(['2026-03-02', 'rita']);
  expect(day.slice(3)).toEqual([
    ...['12 → 12', '1,102.10', '1,007.00', '−95.10'],
    'Changed: 3; Withdrawn: 1; New: 1',
    'Platform commission, platformDiscountedValue, Provider’s account',
  ]);
  const [sums] = await world.database.prisma.$queryRaw<[{ sealed: string; present: string }]>`
    SELECT sum(seal.original_value_sum)::text AS sealed, sum(day.original_value_sum)::text AS present
    FROM conciliation.day JOIN conciliation.sign_off seal USING (date)
    WHERE restated_after_sign_off`;
  expect(sums).toEqual({ sealed: '13225.20', present: '12084.00' });
});

test('the changed fields are exported whole, in the language of the reader', async () => {
  const take = async (fields: Record<string, string>, client = reviewer, headers = {}) => {
    const answer = await client.post('/restated', fields, { headers });
    const [head = '', ...lines] = answer.text.slice(1).trim().split('\r\n');
    return { ...answer, head, lines };
  };
  const fields = await take({}, reviewer, { 'accept-language': 'pt-BR' });
  expect(await lastAudit(world)).toMatchObject({ actor: 'rita', action: 'restated.export' });
  expect(fields.headers['content-disposition']).toContain(`alterados-campos-${TODAY}.csv`);
  expect(fields.head).toBe(
    'Data;Número do título;Pedido;Ocorrência;Mudança;Valor original;Campo;Antes;Depois;Valor antes;Valor depois;Busca',
  );
  // For each day the discount, the account, the commission, the withdrawn and the new title.
  expect(fields.lines).toHaveLength(12 * 5);
  const first = fields.lines.filter((line) => line.startsWith('02/03/2026;'));
  for (const change of [
    /;a;1;alterado;100,10;platformDiscountedValue;;;12,34;12,35;/,
    /;Comissão da plataforma;"=""0,17""";"=""0,18""";;;/,
    /;Conta do fornecedor;"=""7654321""";"=""9999977""";;;/,
  ]) {
    expect(first.filter((line) => change.test(line))).toHaveLength(1);
  }

  expect((await take({ by: 'rita' })).lines).toHaveLength(3 * 5);
  const masked = await take({}, viewer);
  expect(masked.lines).toHaveLength(12 * 5);
  expect(masked.text).toContain('provider_account,••••21,••••77');
  expect(masked.text).not.toContain('9999977');
});
