/** Amounts that the interface does not document have the names of the interface until a setting declares them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAmountMeanings, UNKNOWN_MEANINGS } from '../../../src/domain/amount-meaning.ts';
import { EVIDENCE_TITLES, readAmountEvidence } from '../../../src/ledger/amount-evidence.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { openConsole } from '../../support/console-client.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
  // platform: a discount that equals both fees. financial: what is left after the platform's discount.
  const title = (uid: string, value: string, discount: string, net: string) => {
    const parsed = JSON.parse(titleText({ uid, value: '1' }));
    const amounts = { billingFee: 'FEE', moneyTransferFee: 'TRANSFER' };
    return JSON.stringify({ ...parsed, ...amounts, buyerDiscountedValue: null })
      .replace(/"originalValue":[^,}]+/, `"originalValue":${value}`)
      .replace(/"platformDiscountedValue":[^,}]+/, `"platformDiscountedValue":${discount}`)
      .replace(/"financialDiscountedValue":[^,}]+/, `"financialDiscountedValue":${net}`)
      .replace('"FEE"', '1.10')
      .replace('"TRANSFER"', '2.20');
  };
  world.sandbox.setDayTexts(DAY, [
    title('a', '100.00', '3.3', '96.70'),
    title('b', '1000.10', '3.30', '996.8'),
    title('c', '50', '40', '10.00'),
    title('d', '20', '0', '0'),
    title('e', '20', '30', '1'),
  ]);
  await world.pull();
});
afterAll(() => world.close());

const range = { from: daysFrom(-30), to: DAY };

test('the evidence counts titles by exact comparison', async () => {
  const [platform, financial, buyer] = await readAmountEvidence(world.database, range);
  expect(platform).toEqual({
    column: 'platform_discounted_value',
    titles: 5,
    zero: 1,
    belowHalf: 2,
    fromHalf: 1,
    aboveOriginal: 1,
    equations: [
      { equation: 'originalValue - platformDiscountedValue = financialDiscountedValue', titles: 3 },
      { equation: 'platformDiscountedValue = billingFee + moneyTransferFee', titles: 2 },
    ],
  });
  expect(financial).toMatchObject({
    titles: 5,
    zero: 1,
    belowHalf: 2,
    fromHalf: 2,
    aboveOriginal: 0,
  });
  expect(buyer).toMatchObject({ titles: 0, equations: [] });
});

test('a range without titles has no evidence', async () => {
  const before = { from: daysFrom(-30), to: daysFrom(-1) };
  const evidence = await readAmountEvidence(world.database, before);
  expect(evidence.map(({ titles, equations }) => [titles, equations])).toEqual([
    [0, []],
    [0, []],
    [0, []],
  ]);
});

test('pages have the names of the interface by default, and say that they are not documented', async () => {
  const console = await openConsole(world.database);
  try {
    const viewer = await console.as('viewer', 'vera');
    const { id } = await world.database.prisma.title.findFirstOrThrow({ where: { orderUid: 'a' } });
    for (const path of [`/days/${DAY}`, `/titles/${id}`]) {
      const { text } = await viewer.get(path);
      expect(text).toContain('>platformDiscountedValue<');
      expect(text).toContain(
        'does not document what platformDiscountedValue, financialDiscountedValue, buyerDiscountedValue mean',
      );
      expect(text).not.toMatch(/Platform discount|Net of/);
    }
    const portuguese = { 'accept-language': 'pt-BR' };
    // No list and no file guesses a meaning either.
    const lists = ['/titles', `/days/${DAY}/titles`, '/provider?id=P-1'];
    const pages = await Promise.all(
      [...lists, '/', '/restated', '/schedule', '/sign-offs'].map((path) =>
        viewer.get(path, portuguese),
      ),
    );
    for (const { status, text } of pages) {
      expect([status, text]).toEqual([200, expect.not.stringMatching(/Desconto |Valor líquido/)]);
    }
    for (const { text } of pages.slice(0, lists.length)) {
      expect(text.replaceAll('<wbr/>', '')).toContain('>platformDiscountedValue<');
    }
    for (const headers of [portuguese, { 'accept-language': 'en' }]) {
      const form = { dueFrom: '2026-01-01', dueTo: '2026-12-31', format: 'csv' };
      const file = await viewer.post('/schedule/export', form, { headers });
      expect(file.text).toContain('platformDiscountedValue');
      expect(file.text).not.toMatch(/Desconto|[Dd]iscount[^e]/);
    }
    const page = await viewer.get(`/amount-meaning?from=${range.from}&to=${DAY}`, portuguese);
    expect(page.text).toContain('não documentado');
    expect(page.text).toContain('3 títulos (60,0%)');
    expect(page.text).toContain('100.000 títulos');
    expect((await viewer.get('/amount-meaning?from=2026-02-30&to=x')).status).toBe(200);
  } finally {
    await console.close();
  }
});

test('a declared discount has a name, and the net amount is exact', async () => {
  const amountMeanings = parseAmountMeanings(
    'platformDiscountedValue=discount, financialDiscountedValue=net',
  );
  const console = await openConsole(world.database, {
    amountMeanings: amountMeanings ?? UNKNOWN_MEANINGS,
  });
  try {
    const viewer = await console.as('viewer', 'vera');
    const { id } = await world.database.prisma.title.findFirstOrThrow({ where: { orderUid: 'b' } });
    const portuguese = { 'accept-language': 'pt-BR' };
    const title = (await viewer.get(`/titles/${id}`, portuguese)).text;
    expect(title).toMatch(/Desconto da plataforma<\/dt><dd[^>]*>3,30</);
    expect(title).toMatch(/Valor líquido \(financeiro\)<\/dt><dd[^>]*>996,80</);
    expect(title).toMatch(/Líquido do desconto da plataforma, calculado<\/dt><dd>996,80</);
    expect(title).toContain('não documenta o significado de buyerDiscountedValue.');
    const day = (await viewer.get(`/days/${DAY}`)).text;
    // 1,190.10 less 76.60.
    expect(day).toMatch(/Net of the platform discount, calculated<\/th><td[^>]*>.*?1,113\.50</s);
  } finally {
    await console.close();
  }
});

test.each([
  'platformDiscountedValue',
  'platformDiscountedValue=gross',
  'originalValue=net',
  'platformDiscountedValue=net,platformDiscountedValue=net',
  'platformDiscountedValue=net=net',
  ',',
])('%s declares nothing', (text) => {
  expect(parseAmountMeanings(text)).toBeNull();
});

test('the command prints the same counts', async () => {
  const args = ['amount-meaning', '--from', range.from, '--to', DAY];
  const environment = {
    ...environmentOf(world),
    AMOUNT_MEANING: 'platformDiscountedValue=discount',
  };
  const json = JSON.parse((await runCommand([...args, '--json'], environment)).stdout);
  expect(json.amounts[0]).toMatchObject({
    field: 'platformDiscountedValue',
    declared: 'discount',
    titles: 5,
    belowHalf: 2,
  });
  const { stdout } = await runCommand(args, environment);
  expect(stdout).toContain(
    'originalValue - platformDiscountedValue = financialDiscountedValue: 3 of 5 titles',
  );
  const faulty = await runCommand(args, { ...environment, AMOUNT_MEANING: 'x' });
  expect(faulty).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('AMOUNT_MEANING: got "x"'),
  });
  expect(EVIDENCE_TITLES).toBe(100_000);
});
