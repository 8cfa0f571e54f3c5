/** The checks of the titles of a day, on what pulls have merged. */
import { describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import {
  CHECK_CODES,
  type CheckCode,
  type CheckSeverities,
  DEFAULT_SEVERITIES,
} from '../../../src/base/values/checks.ts';
import { readCheckpoint } from '../../../src/core/ledger/pull-requests.sql.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { readFindings, resolveFindings } from '../../../src/features/checks/findings.sql.ts';
import { signCleanDays } from '../../../src/features/review/sign-off.sql.ts';
import { signDay } from '../../support/days.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { DAY, daysFrom, worldOfEachTest } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const NEXT = daysFrom(1);

const world = worldOfEachTest();

const check = (severities: CheckSeverities = DEFAULT_SEVERITIES) =>
  checkDays(world.database, severities);

/** Titles as JSON, or in words such as "a value=0, b". */
async function pull(date: CivilDate, ...titles: string[]) {
  const texts = titles.flatMap((text) =>
    text.startsWith('{') ? text : text.split(', ').map((words) => inWords(date, words)),
  );
  return world.serve(date, texts, { withdrawalLimitPercent: 100 });
}
function inWords(date: CivilDate, words: string): string {
  const [uid = '', ...fields] = words.split(' ');
  return titleText({ uid, date, ...Object.fromEntries(fields.map((field) => field.split('='))) });
}

async function checked(date: CivilDate, ...titles: string[]) {
  await pull(date, ...titles);
  return check();
}

/** The findings as `check order state`, sorted. */
async function findings(date: CivilDate | null = null): Promise<string[]> {
  const filter = { state: 'all', check: null, severity: null, date } as const;
  const rows = await readFindings(world.prisma, filter, { offset: 0, limit: 1000 });
  return rows.map(({ code, orderUid, state }) => `${code} ${orderUid} ${state}`).sort();
}

const stateOf = async (date: CivilDate) =>
  (await world.prisma.day.findUniqueOrThrow({ where: { date } })).state;

async function expectDay(state: string, ...found: string[]): Promise<void> {
  expect(await findings()).toEqual(found);
  expect(await stateOf(DAY)).toBe(state);
}

const title = (uid: string, fields: Parameters<typeof titleText>[0] = {}) =>
  titleText({ uid, ...fields });

describe('a title with a fault has a finding, and the title beside it has none', () => {
  type Change = (uid: string) => string;
  const fields = (of: Parameters<typeof titleText>[0]) => (uid: string) => title(uid, of);
  const parties = (taxId: string, agent: string) => fields({ taxId, agent });
  const BUYER = '90021382000122';

  test.each<[CheckCode, faulty: Change, right: Change]>([
    ['due_before_acceptance', fields({ dueDate: '2026-03-01' }), fields({ dueDate: DAY })],
    ['value_not_positive', fields({ value: '0' }), fields({ value: '0.01' })],
    ['value_not_positive', fields({ value: '-5.00' }), fields({})],
    ['tax_id_invalid', fields({ taxId: '52998224726' }), fields({ taxId: '529.982.247-25' })],
    ['tax_id_invalid', fields({ agent: '11222333000180' }), fields({ agent: '12ABC34501DE35' })],
    ['agent_is_party', fields({ taxId: '11.222.333/0001-81' }), fields({})],
    ['agent_is_party', fields({ agent: BUYER }), fields({ agent: BUYER, isBuyer: true })],
    // One agent in two writings, of which the zeros are lost in one. A mask decides.
    ...[
      ['0000000000191', '00.000.000/0001-91'],
      ['00000000191', '00000000000191'],
      ['12abc34501de35', '12.ABC.345/01DE-35'],
      ['\u00a052998224725', '529.982.247-25'],
    ].map(([provider = '', agent = '']): [CheckCode, Change, Change] => [
      'agent_is_party',
      parties(provider, agent),
      parties('000.000.001-91', '00000000000191'),
    ]),
    // From the digits follow a CPF and a CNPJ, or neither.
    ...['191', '12ABC34501DE36', 'filial-3', '12345678909'].map(
      (number): [CheckCode, Change, Change] => [
        'tax_id_invalid',
        parties('52998224725', number),
        parties('0000000000191', '000.000.000-00'),
      ],
    ),
  ])('%s', async (code, faulty, right) => {
    await checked(DAY, faulty('faulty'), right('right'));
    await expectDay('attention', `${code} faulty open`);
  });

  test('equal_in_day names each of the equal titles, and keeps no day from being reconciled', async () => {
    await checked(DAY, 'twin, twin, twin discount=9, other');
    await expectDay('reconciled', 'equal_in_day twin open', 'equal_in_day twin open');
  });

  test.each([
    ['an amount', { discount: '0.1234' }, { discount: '12.34' }],
    ['the original value', { value: '100050' }, { value: '1000.50' }],
  ])('unit_jump finds a hundredfold: %s', async (_, faulty, before) => {
    await pull(DAY, title('faulty', before), 'right discount=5');
    await checked(DAY, title('faulty', faulty), 'right discount=6');
    expect(await findings()).toEqual(['unit_jump faulty open']);
  });

  test('unit_jump remains where another field is restated, or the title was gone meanwhile', async () => {
    await pull(DAY, 'faulty discount=0.12, other');
    await checked(DAY, 'faulty discount=12, other');
    await checked(DAY, 'faulty discount=12 name=Renamed, other');
    await expectDay('attention', 'unit_jump faulty closed', 'unit_jump faulty open');
    await checked(DAY, 'other');
    expect(await stateOf(DAY)).toBe('reconciled');
    await checked(DAY, 'faulty discount=12 name=Renamed, other');
    await expectDay('attention', 'unit_jump faulty closed', 'unit_jump faulty open');
    await checked(DAY, 'faulty discount=13 name=Renamed, other');
    expect(await stateOf(DAY)).toBe('reconciled');
  });
});

describe('a finding', () => {
  const FAULTY = 'faulty value=0';

  const resolve = (newestId: bigint, titleId: bigint | null = null) =>
    resolveFindings(
      world.database,
      { date: DAY, code: 'value_not_positive', newestId, titleId },
      { by: 'ana', reason: 'a correction of the platform' },
    );
  const newest = async () =>
    (await world.prisma.checkFinding.aggregate({ _max: { id: true } }))._max.id ?? 0n;

  test('is closed when the title no longer has the fault, and is there again with the fault', async () => {
    await checked(DAY, FAULTY, 'right');
    await pull(DAY, 'right, more');
    expect(await stateOf(DAY)).toBe('attention');
    await check();
    await expectDay('reconciled', 'value_not_positive faulty closed');
    await checked(DAY, FAULTY, 'right, more');
    expect(await findings()).toEqual(['value_not_positive faulty open']);
  });

  test('keeps its day in attention until a person resolves the finding with a reason', async () => {
    await checked(DAY, FAULTY, 'right');
    // The first merge had reconciled the day before the checks ran. A checkpoint never moves back.
    expect((await readCheckpoint(world.database))?.lastReconciledDate).toBe(DAY);
    await checked(NEXT, 'zero value=0');
    expect(await resolve(await newest())).toBe(1);
    expect(await stateOf(DAY)).toBe('reconciled');
    expect(await stateOf(NEXT)).toBe('attention');
    const entry = { actor: 'ana', reason: 'a correction of the platform', date: DAY };
    expect(await lastAudit(world, { action: 'findings.resolve' })).toMatchObject(entry);
    await expect(resolve(await newest())).rejects.toThrow(/no open finding/);
  });

  test('that came after the person looked is not resolved', async () => {
    await checked(DAY, FAULTY);
    const seen = await newest();
    await checked(DAY, FAULTY, 'late value=0');
    expect(await resolve(seen)).toBe(1);
    await expectDay(
      'attention',
      'value_not_positive faulty resolved',
      'value_not_positive late open',
    );
  });

  test('that is there again after the person looked is not resolved', async () => {
    await checked(DAY, FAULTY);
    await checked(DAY, 'other value=0');
    const seen = await newest();
    await checked(DAY, FAULTY, 'other value=0');
    expect(await resolve(seen)).toBe(1);
    expect(await findings()).toEqual([
      'value_not_positive faulty open',
      'value_not_positive other resolved',
    ]);
  });

  test('stays resolved while the content is the same, and another content has a finding of its own', async () => {
    await checked(DAY, FAULTY, 'right');
    await resolve(await newest());
    await checked(DAY, FAULTY, 'right, more');
    expect(await findings()).toEqual(['value_not_positive faulty resolved']);
    await checked(DAY, 'faulty value=0 discount=3, right, more');
    expect(await findings()).toEqual([
      'value_not_positive faulty open',
      'value_not_positive faulty resolved',
    ]);
  });

  test('of one title can be resolved alone', async () => {
    await checked(DAY, FAULTY, 'second value=0');
    const { id } = await world.prisma.title.findFirstOrThrow({ where: { orderUid: 'second' } });
    expect(await resolve(await newest(), id)).toBe(1);
    expect(await findings()).toEqual([
      'value_not_positive faulty open',
      'value_not_positive second resolved',
    ]);
  });
});

describe('a sign-off', () => {
  const sign = (by: string) =>
    signDay(world.database, DAY, { by, fourEyes: true, requiresChecks: true, bookingsFrom: null });

  test('waits for the checks of the present content', async () => {
    await pull(DAY, 'a');
    await expect(sign('ana')).rejects.toMatchObject({ context: { fault: 'not_checked' } });
    await check();
    await pull(DAY, 'a, b, b');
    await expect(sign('ana')).rejects.toMatchObject({ context: { fault: 'not_checked' } });
    await check();
    await sign('ana');
    // A signed day does not change when the rules change.
    const severities = { ...DEFAULT_SEVERITIES, equal_in_day: 'review' } as const;
    expect((await check(severities)).map(({ date }) => date)).not.toContain(DAY);
    expect(await stateOf(DAY)).toBe('reconciled');
  });

  test('is refused while a finding is open, and to the person who resolved the finding', async () => {
    await checked(DAY, 'a value=0, b');
    await expect(sign('bia')).rejects.toMatchObject({ context: { fault: 'not_reconciled' } });
    await resolveFindings(
      world.database,
      { date: DAY, code: 'value_not_positive', newestId: 1_000n, titleId: null },
      { by: 'ana', reason: 'asked' },
    );
    await expect(sign('ana')).rejects.toMatchObject({ context: { fault: 'own_decision' } });
    await sign('bia');
  });

  test('by the program is made only for a checked day without a decision of a person', async () => {
    const range = { bookingsFrom: DAY, to: NEXT };
    await pull(DAY, 'a');
    await pull(NEXT, 'zero value=0');
    expect(await signCleanDays(world.database, range)).toEqual([]);
    await check();
    expect(await signCleanDays(world.database, range)).toEqual([DAY]);
  });
});

test('a check that is off finds nothing, and its open findings are closed', async () => {
  await checked(DAY, 'faulty value=0');
  const off = Object.fromEntries(CHECK_CODES.map((code) => [code, 'off'])) as CheckSeverities;
  await check(off);
  await expectDay('reconciled', 'value_not_positive faulty closed');
});

test('dates that are checked are not checked again', async () => {
  await pull(DAY, 'a');
  await pull(NEXT, 'b');
  expect((await check()).map(({ date }) => date)).toEqual([NEXT, DAY]);
  expect(await check()).toEqual([]);
  await pull(DAY, 'a, c');
  expect((await check()).map(({ date }) => date)).toEqual([DAY]);
});
