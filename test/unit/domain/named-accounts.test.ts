import { describe, expect, test } from 'vitest';
import { NamedAccounts } from '../../../src/domain/accounts/named-accounts.ts';
import { toCivilDate } from '../../../src/domain/business-day.ts';
import type { JsonObject } from '../../../src/domain/json-value.ts';
import { sweepWindow } from '../../../src/domain/plan/pull-plan.ts';
import type { Title } from '../../../src/domain/title.ts';
import { checkTitle } from '../../../src/platform/title-contract.ts';
import { parseExactJson } from '../../../src/reader/exact-json.ts';
import { titleText } from '../../support/titles.ts';

const DATE = toCivilDate('2026-01-05');

function title(changes: Partial<Title> = {}): Title {
  const bytes = Buffer.from(titleText({ date: DATE, uid: 'order-1' }));
  const check = checkTitle(parseExactJson(bytes).value, sweepWindow(DATE));
  if (!check.ok) throw new Error('the title keeps the contract');
  return { ...check.title, ...changes };
}

const PROVIDER = {
  provider_external_id: 'P-1',
  provider_identification: '12.345',
  provider_bank: '001',
  provider_agency: ' 1 ',
  provider_agency_digit: null,
  provider_account: 'É-7',
  provider_account_digit: '',
};
const AGENT = {
  financial_agent_identification: null,
  payment_bank: '237',
  payment_agency: null,
  payment_agency_digit: 'X',
  payment_account: '99',
  payment_account_digit: '0',
};

describe('accounts', () => {
  test('are listed as the titles state them, empty and missing texts apart', () => {
    const accounts = new NamedAccounts();
    accounts.addTitle(title({ ...PROVIDER, ...AGENT }));
    expect(accounts.list()).toEqual([
      {
        kind: 'provider',
        externalId: 'P-1',
        identification: '12.345',
        bank: '001',
        agency: ' 1 ',
        agencyDigit: null,
        account: 'É-7',
        accountDigit: '',
        destination: null,
      },
      {
        kind: 'financial_agent',
        externalId: null,
        identification: null,
        bank: '237',
        agency: null,
        agencyDigit: 'X',
        account: '99',
        accountDigit: '0',
        destination: null,
      },
    ]);
  });

  test('are listed with the undocumented members that name a destination', () => {
    const accounts = new NamedAccounts();
    const members = '{"key":"a@b.com","ispb":360305,"token":"1","type":{"a":1}}';
    const extra = parseExactJson(Buffer.from(`{"financialAgent":{"payment":${members}}}`)).value;
    accounts.addTitle(title({ ...PROVIDER, ...AGENT, extra: extra as JsonObject }));
    expect(accounts.list()?.map(({ kind, destination }) => [kind, destination])).toEqual([
      ['provider', null],
      ['financial_agent', { key: 'a@b.com', ispb: '360305', type: '{"a": 1}' }],
    ]);
  });

  test('are listed once, in the order of their first sight', () => {
    const accounts = new NamedAccounts();
    for (const account of ['2', '1', '2', '3', '1']) {
      accounts.addTitle(title({ ...AGENT, provider_account: account }));
    }
    expect(accounts.list()?.map(({ account }) => account)).toEqual(['2', '1', '3', '99']);
  });

  test('are distinguished by each of their texts, and by the column of the text', () => {
    const accounts = new NamedAccounts();
    const names = Object.keys(PROVIDER);
    const empty = Object.fromEntries(names.map((name) => [name, null]));
    for (const name of names) accounts.addTitle(title({ ...AGENT, ...empty, [name]: '1' }));
    expect(accounts.list()).toHaveLength(names.length + 1);
  });

  test('are given up where their texts do not fit into memory', () => {
    const accounts = new NamedAccounts();
    const text = 'x'.repeat(100_000);
    for (let index = 0; index < 41; index++) {
      accounts.addTitle(title({ ...AGENT, provider_account: `${index}${text}` }));
    }
    expect(accounts.list()).toHaveLength(42);
    accounts.addTitle(title({ ...AGENT, provider_account: `-${text}${text}` }));
    expect(accounts.list()).toBeNull();
  });
});
