import { describe, expect, it } from 'vitest';
import { forTest } from '../../support/for-tests.ts';
import { cpfOf, providerOf } from '../../support/provider-rows.ts';
import { startSandbox } from '../../support/sandbox/sandbox.ts';

const sandbox = forTest(startSandbox);

function post(body: unknown): Promise<Response> {
  return fetch(`${sandbox.baseUrl}/api/providers`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${sandbox.issueToken()}`,
      'content-type': 'application/json',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const postProviders = (...providers: unknown[]) => post({ providers });

describe('POST /api/providers', () => {
  it('creates and updates by external id', async () => {
    expect((await postProviders(providerOf(1), providerOf(2))).status).toBe(200);
    const answer = await postProviders(providerOf(1, { name: 'Outro Nome' }));
    expect(await answer.json()).toEqual({});
    expect([...sandbox.providers.keys()]).toEqual(['F000001', 'F000002']);
    expect(sandbox.providers.get('F000001')).toEqual(providerOf(1, { name: 'Outro Nome' }));
  });

  it('takes a hundred providers and refuses a hundred and one', async () => {
    const hundred = Array.from({ length: 100 }, (_, index) => providerOf(index));
    expect((await postProviders(...hundred, providerOf(100))).status).toBe(400);
    expect(sandbox.providers.size).toBe(0);
    expect((await postProviders(...hundred)).status).toBe(200);
    expect(sandbox.providers.size).toBe(100);
  });

  it.each([
    ['an invalid tax identifier', { identificationNumber: '12345678901' }],
    ['no tax identifier', { identificationNumber: undefined }],
    ['no external id', { externalId: undefined }],
    ['an external id that is a number', { externalId: 5 }],
    ['a flag that is text', { canAnticipate: 'true' }],
    ['phones that are text', { phones: ['+55 11 90000-0000'] }],
    ['an address that is none', { emailAddresses: [{ email: 'nowhere' }] }],
    ['an account digit that is a number', { accounts: [{ accountDigit: 6 }] }],
  ])('refuses the whole batch for %s', async (_, fields) => {
    const answer = await postProviders(providerOf(1), providerOf(2, fields));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errors: [{ index: 1, status: 'REJECTED' }] });
    expect(sandbox.providers.size).toBe(0);
  });

  it.each([
    ['no list', {}],
    ['a list that is none', { providers: {} }],
    ['no JSON', 'providers'],
    ['an array', []],
  ])('refuses a body with %s', async (_, body) => {
    expect((await post(body)).status).toBe(400);
  });

  it('refuses a tax identifier that exists under another external id, masked or not', async () => {
    const masked = cpfOf(1).replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4');
    await postProviders(providerOf(1, { identificationNumber: masked }));
    const answer = await postProviders(providerOf(2, { identificationNumber: cpfOf(1) }));
    expect(answer.status).toBe(400);
    const twice = await postProviders(
      providerOf(3, { identificationNumber: cpfOf(9) }),
      providerOf(4, { identificationNumber: cpfOf(9) }),
    );
    expect(twice.status).toBe(400);
    expect([...sandbox.providers.keys()]).toEqual(['F000001']);
  });

  it('frees a tax identifier when its provider takes another', async () => {
    await postProviders(providerOf(1));
    await postProviders(providerOf(1, { identificationNumber: cpfOf(50) }));
    expect((await postProviders(providerOf(2, { identificationNumber: cpfOf(1) }))).status).toBe(
      200,
    );
    expect((await postProviders(providerOf(3, { identificationNumber: cpfOf(50) }))).status).toBe(
      400,
    );
    const swapped = await postProviders(
      providerOf(1, { identificationNumber: cpfOf(60) }),
      providerOf(3, { identificationNumber: cpfOf(50) }),
    );
    expect(swapped.status).toBe(200);
  });
});
