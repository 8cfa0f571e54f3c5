/** The companies of payables, the buyers that they stand for, and the tax identifiers of financial agents. */
import { beforeEach, describe, expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import {
  clearMatching,
  play,
  type Step,
  TITLE_AGENT,
  TITLE_BUYER,
} from '../../support/matching-world.ts';

const world = worldOfFile();
beforeEach(() => clearMatching(world.database));

const OTHER_BUYER = '44555666000181';
const BRANCH = '90021382000203';
const CNPJS = (
  '10345678000160 11345678000122 12345678000195 13345678000158 14345678000110 ' +
  '15345678000183 16345678000146 17345678000109 18345678000171 19345678000134'
).split(' ');
const twoBuyers = `a 10, b 20 buyer=${OTHER_BUYER}`;
const sumOf = (company: string) =>
  ['60', '40'].map((value, at) => `k${at + 1} ${value} doc=NF-1 company=${company}`).join(', ');

const cases: Record<string, readonly Step[]> = {
  'that are CNPJs divide equal titles of ten buyers': [
    {
      titles: CNPJS.map((buyer, at) => ({ uid: `t${at}`, value: '10', buyer })),
      load: CNPJS.map((company, at) => `k${at} 10 company=${company}`).join(', '),
      matches: CNPJS.map((_, at) => `t${at}=k${at} exact`).join(', '),
    },
  ],
  'are compared with a buyer that has lost its zeros': [
    { titles: `a 10 buyer=191, b 10 buyer=${OTHER_BUYER}` },
    { load: 'k1 10 company=00.000.000/0001-91', matches: 'a=k1 exact' },
  ],
  'of another CNPJ root are never matched, not even by the order': [
    { titles: 'a 10', load: 'k1 10 order=a company=44.555.666/0001-81', matches: '' },
    { load: 'k1 10 order=a company=90.021.382/0001-22', matches: 'a=k1 order' },
  ],
  'that are another branch are not matched where both sides name both branches': [
    // A contract names the head office for its branches.
    { titles: 'a 10', load: `k1 10 company=${BRANCH}`, matches: 'a=k1 exact' },
    { clear: true, titles: `a 10, b 20 buyer=${BRANCH}` },
    { load: `k1 10 company=${BRANCH}, k2 99 company=${TITLE_BUYER}`, matches: '' },
  ],
  'with a code match the only buyer, and no title of several buyers until a person maps the code': [
    { titles: 'a 10', load: 'k1 10 company=02', matches: 'a=k1 exact' },
    { clear: true, titles: `a 10, b 10 buyer=${OTHER_BUYER}` },
    { load: 'k1 10 company=02', matches: '' },
    { company: `02=${OTHER_BUYER}`, matches: 'b=k1 exact' },
  ],
  'with a code beside another company match nothing by supplier, value and due date': [
    // The second one was paid long ago: the ERP has this company too.
    { titles: 'a 10', load: 'k1 10 company=02, k2 99 company=01 paid due=2026-01-30', matches: '' },
    { company: `02=${TITLE_BUYER}`, matches: 'a=k1 exact' },
  ],
  'that stand for several buyers match the titles of each': [
    { titles: twoBuyers, load: 'k1 10 company=02, k2 20 company=02' },
    { company: `02=${TITLE_BUYER}`, matches: 'a=k1 exact' },
    { company: `02=${OTHER_BUYER}`, matches: 'a=k1 exact, b=k2 exact' },
  ],
  ...Object.fromEntries(
    [
      ['a code', '02'],
      ['no company', ''],
      ['14 characters with wrong check digits', '90021382000123'],
    ].map(([what, of]): [string, Step[]] => [
      `among several: ${what} is matched with order, supplier, value and due date`,
      [
        { titles: `a 10, b 20, c 30 buyer=${OTHER_BUYER}` },
        { load: `k1 10 order=a company=${of}, k2 20 order=b due=2026-07-01 company=${of}` },
        { load: `k3 30 company=${of}`, matches: 'a=k1 order' },
      ],
    ]),
  ),
  'of an unknown payable leave an equal payable of the buyer in doubt': [
    { titles: twoBuyers, load: `k1 10 company=${TITLE_BUYER}, k2 10 company=02`, matches: '' },
    { company: `02=${OTHER_BUYER}`, matches: 'a=k1 exact' },
  ],
  'of a sum are those of its titles': [
    { titles: `a 100, b 20 buyer=${OTHER_BUYER}`, load: sumOf(OTHER_BUYER), matches: '' },
    { load: sumOf('02'), matches: '' },
    { company: `02=${TITLE_BUYER}`, matches: 'a=k1 sum, a=k2 sum' },
  ],
};
describe('companies', () => {
  test.each(Object.entries(cases))('%s', (_, steps) => play(world, steps));

  test('with a code end the match of another buyer when a person maps the code', async () => {
    await play(world, [
      { titles: 'a 10', load: 'k1 10 company=02', matches: 'a=k1 exact' },
      { company: `02=${OTHER_BUYER}`, matches: '' },
    ]);
    const { endReason } = await world.database.prisma.titleMatch.findFirstOrThrow();
    expect(endReason).toBe('the company is another buyer');
  });
});

const ofAgent: Record<string, readonly Step[]> = {
  'are no candidates: the supplier is the agent': [
    { titles: 'a 10', load: `k1 10 order=a tax=${TITLE_AGENT}`, matches: '' },
    { load: `k1 10 order=a tax=${OTHER_BUYER}`, matches: 'a=k1 order' },
  ],
  'are no candidates: the supplier is a branch of the agent': [
    { titles: 'a 10', load: 'k1 10 order=a tax=11222333000262', matches: '' },
  ],
  'are no candidates and no alternatives where a posting has made them': [
    { titles: 'a 10', load: 'k1 10, k2 10' },
    { set: { erpKey: 'k2', bookingKey: `2026-03-02:${'0'.repeat(32)}:1:1` } },
    { matches: 'a=k1 exact' },
  ],
};
describe('payables of the financial agent', () => {
  test.each(Object.entries(ofAgent))('%s', (_, steps) => play(world, steps));

  test('are no candidates where the supplier is the administrator of the agent, as a person has confirmed', async () => {
    const { partyEquivalent } = world.database.prisma;
    await partyEquivalent.create({
      data: { taxId: TITLE_AGENT, sameAs: OTHER_BUYER, confirmedBy: 'rita', reason: 'contract' },
    });
    await play(world, [{ titles: 'a 10', load: 'k1 10 order=a tax=44555666000262', matches: '' }]);
    await partyEquivalent.updateMany({ data: { endedAt: new Date(), endedBy: 'rita' } });
    await play(world, [{ matches: 'a=k1 order' }]);
  });
});

test('only payables in BRL, or without a currency, are matched', () =>
  play(world, [
    { titles: 'a 10, b 20', load: 'k1 10, k2 20', set: { erpKey: 'k1', currency: 'USD' } },
    { set: { erpKey: 'k2', currency: 'BRL' }, matches: 'b=k2 exact' },
    // A match ends where the currency turns out to be another.
    { set: { erpKey: 'k2', currency: 'EUR' }, matches: '' },
  ]));

test('blanks around the order and the code of a title do not count', () =>
  play(world, [
    { titles: [{ uid: 'a   ', value: '10' }], load: 'k1 10 order=a', matches: 'a   =k1 order' },
  ]));
