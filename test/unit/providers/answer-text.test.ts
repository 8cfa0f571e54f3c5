import { expect, it } from 'vitest';
import { MAX_KEPT_BYTES, toAnswerText } from '../../../src/providers/answer-text.ts';

it('keeps a body as it came', () => {
  expect(toAnswerText(Buffer.from('{"message":"não"}\r\n'))).toBe('{"message":"não"}\r\n');
  expect(toAnswerText(Buffer.alloc(0))).toBe('');
});

it('replaces what PostgreSQL cannot hold', () => {
  expect(toAnswerText(Buffer.from([0x61, 0x00, 0xff, 0xed, 0xa0, 0x80, 0x62]))).toMatch(
    /^a\ufffd{2,}b$/,
  );
});

it('cuts off what is too long, also in the middle of a character', () => {
  const text = toAnswerText(Buffer.from(`${'x'.repeat(MAX_KEPT_BYTES - 1)}ção`));
  expect(text).toBe(`${'x'.repeat(MAX_KEPT_BYTES - 1)}\ufffd`);
});
