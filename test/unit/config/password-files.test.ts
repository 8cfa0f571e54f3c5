import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/base/config/config.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { problemsOf } from './problems.ts';

const folder = forFile(openFolder);
let path: string;
beforeEach(() => {
  path = join(folder.path, 'password');
  writePassword('s3cret');
});

function writePassword(text: string, mode = 0o600): void {
  writeFileSync(path, text);
  chmodSync(path, mode);
}

const NO_PLATFORM = { platform: false };
const read = (environment: Record<string, string>) => readConfig(environment, NO_PLATFORM);

test.each([
  ['postgresql://worker@localhost/erp', 'postgresql://worker:s3cret@localhost/erp'],
  [
    'postgresql://worker@localhost:5433/erp?sslmode=disable',
    'postgresql://worker:s3cret@localhost:5433/erp?sslmode=disable',
  ],
  [
    'postgresql:///erp?host=/run/postgresql&user=worker',
    'postgresql:///erp?host=%2Frun%2Fpostgresql&user=worker&password=s3cret',
  ],
])('the password of its file is added to DATABASE_URL %s', (DATABASE_URL, expected) => {
  expect(read({ DATABASE_URL, DATABASE_PASSWORD_FILE: path }).databaseUrl).toBe(expected);
});

test.each([
  ['redis://localhost', 'redis://:s3cret@localhost'],
  ['rediss://queue@redis.example:6380/2', 'rediss://queue:s3cret@redis.example:6380/2'],
  ['redis:///2', 'redis:///2?password=s3cret'],
])('the password of its file is added to REDIS_URL %s', (REDIS_URL, expected) => {
  expect(read({ REDIS_URL, REDIS_PASSWORD_FILE: path }).redisUrl).toBe(expected);
});

describe.each([
  {
    variable: 'DATABASE_PASSWORD_FILE',
    urlVariable: 'DATABASE_URL',
    scheme: 'postgresql',
    withPassword: [
      'postgresql://worker:other@localhost/1',
      'postgresql://localhost/1?password=other',
    ],
  },
  {
    variable: 'REDIS_PASSWORD_FILE',
    urlVariable: 'REDIS_URL',
    scheme: 'redis',
    withPassword: ['redis://worker:other@localhost/1'],
  },
])('$variable', ({ variable, urlVariable, scheme, withPassword }) => {
  const url = `${scheme}://worker@localhost/1`;
  const problems = (address = url) =>
    problemsOf({ [urlVariable]: address, [variable]: path }, NO_PLATFORM);

  test('needs the address', () => {
    expect(problems('')).toEqual([`${variable}: set, and ${urlVariable} is not`]);
  });

  test.each(withPassword)('is refused beside a password in %s', (address) => {
    expect(problems(address)).toEqual([
      `${variable}, ${urlVariable}: got two passwords, expected ${urlVariable} without a password`,
    ]);
  });
});

test('the secret of company accounts follows the rules of the other secret files', () => {
  const oidc = {
    OIDC_ISSUER_URL: 'https://id.example',
    OIDC_CLIENT_ID: 'conciliation',
    CONSOLE_PUBLIC_URL: 'https://conciliation.example',
    OIDC_CLIENT_SECRET_FILE: path,
  };
  expect(read(oidc).oidc?.clientSecret).toBe('s3cret');
  writePassword('s3cret', 0o644);
  expect(problemsOf(oidc, NO_PLATFORM)).toEqual([
    `OIDC_CLIENT_SECRET_FILE: ${path} can be read by everybody on this machine; run chmod 600 on it`,
  ]);
});
