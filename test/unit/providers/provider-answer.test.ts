import { describe, expect, it } from 'vitest';
import { findRefusals } from '../../../src/features/providers/push-providers.ts';

const SENT = new Set(['A', 'B', 'C']);
const refusalsIn = (value: unknown) =>
  Object.fromEntries(findRefusals(Buffer.from(JSON.stringify(value)), SENT));

describe('findRefusals', () => {
  it.each([
    ['the list alone', (list: unknown) => list],
    ['providers', (providers: unknown) => ({ providers })],
    ['results', (results: unknown) => ({ processed: 3, results })],
  ])('finds statuses in %s', (_, wrap) => {
    const list = [
      { externalId: 'A', status: 'CREATED' },
      { externalId: 'B', status: 'rejected', message: 'no such bank' },
      { externalId: 'C', status: 'ERROR' },
    ];
    expect(refusalsIn(wrap(list))).toEqual({
      B: 'the platform answered 200 with status rejected: no such bank',
      C: 'the platform answered 200 with status ERROR',
    });
  });

  it.each<[string, unknown]>([
    ['an empty object', {}],
    ['a summary', { received: 3, created: 1, rejected: 2 }],
    ['a status without a provider', { providers: [{ index: 0, status: 'REJECTED' }] }],
    ['a provider of another request', [{ externalId: 'Z', status: 'REJECTED' }]],
    ['an unknown status', [{ externalId: 'A', status: 'QUEUED' }]],
    ['a list somewhere else', { data: { providers: [{ externalId: 'A', status: 'REJECTED' }] } }],
    ['no list', { providers: { externalId: 'A', status: 'REJECTED' } }],
  ])('finds nothing in %s', (_, value) => {
    expect(refusalsIn(value)).toEqual({});
  });

  it.each(['', '{"providers":[{"externalId":"A","status":"REJECTED"}', '<html>', '\ufffd'])(
    'finds nothing in text that is not JSON: %j',
    (text) => {
      expect(findRefusals(Buffer.from(text), SENT).size).toBe(0);
    },
  );

  it('hands on text that PostgreSQL can hold', () => {
    const body = '[{"externalId":"A","status":"FAILED","message":"x\\u0000\\ud800y"}]';
    expect(findRefusals(Buffer.from(body), SENT).get('A')).toBe(
      'the platform answered 200 with status FAILED: x\ufffd\ufffdy',
    );
  });
});
