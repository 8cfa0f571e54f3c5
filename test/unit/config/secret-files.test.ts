import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../../../src/base/config/config.ts';
import { problemsOf } from './problems.ts';

const folder = mkdtempSync(join(tmpdir(), 'conciliation-secrets-'));
const path = join(folder, 'secret');

afterAll(() => rmSync(folder, { recursive: true }));

function writeSecret(text: string, mode = 0o600): void {
  writeFileSync(path, text);
  chmodSync(path, mode);
}

const read = (environment: Record<string, string>) => readConfig(environment, { platform: false });

test('an address with a password may be in a file', () => {
  writeSecret('postgresql://worker:s3cret@localhost:5433/erp?sslmode=disable\n');
  expect(read({ DATABASE_URL_FILE: path }).databaseUrl).toBe(
    'postgresql://worker:s3cret@localhost:5433/erp?sslmode=disable',
  );
  writeSecret('rediss://queue:s3cret@redis.example:6380/2\n');
  expect(read({ REDIS_URL_FILE: path }).redisUrl).toBe(
    'rediss://queue:s3cret@redis.example:6380/2',
  );
  writeSecret('smtp://user:s3cret@mail.example\n');
  const email = { ALERT_EMAIL_FROM: 'a@example.com', ALERT_EMAIL_TO: 'b@example.com' };
  expect(read({ SMTP_URL_FILE: path, ...email }).email?.url.password).toBe('s3cret');
});

test('an address in a file is checked as another address is', () => {
  writeSecret('postgresql://worker:s3cret@db.example/erp');
  expect(problemsOf({ DATABASE_URL_FILE: path })).toEqual([
    expect.stringMatching(/^DATABASE_URL: expected sslmode=verify-full.*db\.example/),
  ]);
  expect(problemsOf({ DATABASE_URL: 'postgresql://localhost/', DATABASE_URL_FILE: path })).toEqual([
    'DATABASE_URL_FILE, DATABASE_URL: got both, expected at most one of them',
  ]);
});

test('the secret of company accounts follows the rules of the other secret files', () => {
  writeSecret('s3cret');
  const oidc = {
    OIDC_ISSUER_URL: 'https://id.example',
    OIDC_CLIENT_ID: 'conciliation',
    CONSOLE_PUBLIC_URL: 'https://conciliation.example',
    OIDC_CLIENT_SECRET_FILE: path,
  };
  expect(read(oidc).oidc?.clientSecret).toBe('s3cret');
  writeSecret('s3cret', 0o644);
  expect(problemsOf(oidc)).toEqual([
    `OIDC_CLIENT_SECRET_FILE: ${path} can be read by everybody on this machine; run chmod 600 on it`,
  ]);
});
