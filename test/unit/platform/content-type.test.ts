import { expect, test } from 'vitest';
import { PlatformContractError } from '../../../src/base/runtime/errors.ts';
import { requireJson } from '../../../src/core/platform/conciliation-client.ts';

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'application/vnd.platform.v2+json',
])('%j is JSON', (header) => {
  expect(() => requireJson(header)).not.toThrow();
});

test.each([
  ['text/html; charset=utf-8', 'text/html'],
  ['text/json', 'text/json'],
  ['application/json-seq', 'application/json-seq'],
])('%j is refused by its media type', (header, mediaType) => {
  expect(() => requireJson(header)).toThrow(PlatformContractError);
  expect(() => requireJson(header)).toThrow(
    `the platform answered with ${mediaType}, expected application/json`,
  );
});

test.each([undefined, '', '<script>/json', `${'x'.repeat(65)}/y`])(
  '%j is refused without being repeated',
  (header) => {
    expect(() => requireJson(header)).toThrow(
      'the platform answered with no media type, expected application/json',
    );
  },
);

test.each(['iso-8859-1', '"windows-1252"', 'utf-16', '', 'us-ascii'])(
  'JSON in charset %s is refused',
  (charset) => {
    expect(() => requireJson(`application/json; charset=${charset}`)).toThrow(
      'the platform answered with JSON that is not in UTF-8',
    );
  },
);
