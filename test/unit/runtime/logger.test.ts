import { expect, test } from 'vitest';
import { PlatformUnavailableError } from '../../../src/base/runtime/errors.ts';
import { createLogger, DescribedError } from '../../../src/base/runtime/logger.ts';

function logged(error: unknown): string {
  const lines: string[] = [];
  const logger = createLogger({ logLevel: 'info' }, { write: (line) => lines.push(line) });
  logger.error({ err: error }, 'it broke');
  return lines.join('');
}

test('our own errors are logged with code, message, context and the kind of their cause', () => {
  const cause = Object.assign(new Error('row (52998224725)'), { code: 'ECONNRESET' });
  const line = logged(
    new PlatformUnavailableError('the transfer was cut', { cause, context: { httpStatus: 200 } }),
  );
  expect(JSON.parse(line).err).toMatchObject({
    type: 'PlatformUnavailableError',
    code: 'PLATFORM_UNAVAILABLE',
    message: 'the transfer was cut',
    context: { httpStatus: 200 },
    cause: { type: 'Error', code: 'ECONNRESET' },
  });
  expect(line).not.toContain('52998224725');
});

test('the message of any other error is not logged, but its origin is', () => {
  const error = Object.assign(new Error('Key (order)=(52998224725) already exists'), {
    code: '23505',
    detail: 'CANARY',
  });
  const line = logged(error);
  expect(line).not.toMatch(/52998224725|CANARY/);
  expect(JSON.parse(line).err.code).toBe('23505');
  expect(JSON.parse(line).err.stack.join()).toContain('logger.test.ts');
});

test.each([
  ['an object that only looks like a description', { type: 'Error', message: 'CANARY' }],
  ['a line of a message that looks like a place', new Error('first\n  at CANARY\nlast')],
])('%s is not logged', (_, error) => {
  expect(logged(error)).not.toContain('CANARY');
});

test('the description of an error is logged with the places of the original', () => {
  const original = Object.assign(new Error('row (52998224725)'), { name: 'error' });
  const line = logged(new DescribedError(original, 'SQLSTATE 23505, conciliation.title', '23505'));
  expect(JSON.parse(line).err).toMatchObject({
    type: 'error',
    code: '23505',
    message: 'SQLSTATE 23505, conciliation.title',
    stack: expect.arrayContaining([expect.stringContaining('logger.test.ts')]),
  });
  expect(line).not.toContain('52998224725');
});
