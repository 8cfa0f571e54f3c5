/** Which connections without TLS the configuration takes. */
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { withSessionSettings } from '../../../src/base/database/database.ts';
import { problemsOf } from './problems.ts';

/** A plain address of each variable with the host HOST, and what would be encrypted. */
const VARIABLES = [
  ['DATABASE_URL', 'postgresql://user:s3cret@HOST:5432/erp', 'sslmode=verify-full'],
  ['REDIS_URL', 'redis://:s3cret@HOST:6379', 'an address that begins with rediss://'],
  ...[
    ['ALERT_WEBHOOK_URL', 'http://HOST:8080/hooks/s3cret?key=s3cret'],
    ['ALERT_SLACK_URL', 'http://HOST:8080/hooks/s3cret'],
    ['ALERT_TEAMS_URL', 'http://HOST:8080/hooks/s3cret'],
    ['CONSOLE_PUBLIC_URL', 'http://HOST:8080'],
  ].map(([name, address]) => [name, address, 'an address that begins with https://']),
] as [string, string, string][];

describe.each(VARIABLES)('a plain connection %s', (name, address, expected) => {
  const addressOf = (host: string) => address.replace('HOST', host);

  test.each([
    ['db.example', 'db.example'],
    ['10.0.0.7', '10.0.0.7'],
    ['127.0.0.1.example', '127.0.0.1.example'],
    ['[2001:db8::1]', '2001:db8::1'],
    // Where clouds serve the credentials of a machine. Only TLS decides: SECURITY.md.
    ['[::ffff:0:a9fe:a9fe]', '::ffff:0:a9fe:a9fe'],
  ])('to "%s" is refused', (host, shown) => {
    const problems = problemsOf({ [name]: addressOf(host) });
    expect(problems).toEqual([
      `${name}: expected ${expected}, because the connection to ${shown} would not be encrypted; ` +
        `or ${shown} in ALLOW_PLAINTEXT, if no other party can read the network in between`,
    ]);
    expect(problemsOf({ [name]: addressOf(host), ALLOW_PLAINTEXT: shown })).toEqual([]);
  });

  test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.8.9.10', '[::1]'])(
    'to "%s" is taken',
    (host) => {
      expect(problemsOf({ [name]: addressOf(host) })).toEqual([]);
    },
  );

  test('is taken for the very hosts that ALLOW_PLAINTEXT lists', () => {
    const isTaken = (host: string, allowed: string) =>
      problemsOf({ [name]: addressOf(host), ALLOW_PLAINTEXT: allowed }).length === 0;
    expect(isTaken('db.example', 'redis, DB.example')).toBe(true);
    expect(isTaken('my_service', 'my_service')).toBe(true);
    expect(isTaken('db.example', 'redis')).toBe(false);
    expect(isTaken('db.example', 'example')).toBe(false);
    expect(isTaken('example', 'db.example')).toBe(false);
    expect(isTaken('db.example.org', 'db.example')).toBe(false);
  });
});

describe('DATABASE_URL', () => {
  const refusal = expect.stringContaining('because the connection to db.example would not');

  test.each([
    ['sslmode=verify-full', []],
    // As strict with pg 8; test/integration/database/tls.long.test.ts tries them.
    ['sslmode=require', []],
    ['sslmode=prefer', []],
    ['sslmode=verify_full', []],
    ['sslrootcert=package.json', []],
    ['sslmode=verify-full&user=erp', []],
    ['ssl=true', []],
    ['sslmode=disable&sslmode=verify-full', []],
    ['host=localhost', []],
    ['host=/run/postgresql', []],
    ['sslmode=disable', [refusal]],
    ['application_name=erp', [refusal]],
    ['ssl=true&sslmode=disable', [refusal]],
    ['sslmode=verify-full&sslmode=disable', [refusal]],
  ])('with %s is taken or refused as the parser of the driver has it', (query, problems) => {
    const address = `postgresql://u:p@db.example/erp?${query}`;
    expect(problemsOf({ DATABASE_URL: address })).toEqual(problems);
    const { host, ssl } = new Client({ connectionString: address });
    expect(ssl === false && host === 'db.example').toBe(problems.length > 0);
  });

  test('reaches the driver as it was checked', () => {
    // The check refuses the # of two of these addresses. In all, the driver follows the parser of the check.
    for (const [address, host] of [
      ['postgresql://u:p@localhost/erp?x=1#&host=db.example', 'localhost'],
      ['postgresql://u:p@db.example/erp?ss%6cmode=verify-full', 'db.example'],
      ['postgresql://u:p@db.example/erp?sslmode=verify-full#&sslmode=no-verify', 'db.example'],
    ] as const) {
      const settings = { applicationName: 'test', statementTimeoutMs: 1 };
      const client = new Client({ connectionString: withSessionSettings(address, settings) });
      expect(client.host).toBe(host);
      expect(client.ssl).toEqual(host === 'localhost' ? false : {});
    }
  });
});

test.each([
  ['REDIS_URL', 'rediss://r.example'],
  ['REDIS_URL', 'REDISS://r.example'],
  // Without a host: that of this machine.
  ['REDIS_URL', 'redis:///0'],
  ['ALERT_WEBHOOK_URL', 'https://hooks.example/x'],
  ['CONSOLE_PUBLIC_URL', 'https://conciliation.example'],
  // By the host that pg takes.
  ['DATABASE_URL', 'postgresql://u:p@localhost/erp?host=db.example&host=localhost'],
  ['DATABASE_URL', 'postgresql:///erp?host=/run/postgresql'],
  ['DATABASE_URL', 'postgresql://%2Frun%2Fpostgresql/erp'],
  ['DATABASE_URL', 'postgresql://user@%2frun%2fpostgresql/erp'],
])('%s is taken: %s', (name, address) => {
  expect(problemsOf({ [name]: address })).toEqual([]);
});

const PARAMETERS =
  'an address with no TLS parameters but ssl, sslmode, sslrootcert, sslcert, sslkey, sslnegotiation';
const NO_HASH = 'an address without #; in a password, # is written %23';
const NO_BLANKS =
  'an address without blanks, with % in escapes only; in a password, % is written %25';
const NO_QUERY = 'an address without a query, such as redis://host:6379/0';
const TWO_READINGS = [
  ['#', NO_HASH],
  ['#&sslmode=no-verify', NO_HASH],
  ['%zz', NO_BLANKS],
  [' x', NO_BLANKS],
] as const;
test.each<readonly [string, string, string]>([
  // Parameters of TLS that pg does not read.
  ['DATABASE_URL', 'postgresql://u:p@db.example/erp?ssl=true&SSLMODE=verify-full', PARAMETERS],
  ['DATABASE_URL', 'postgresql://u:p@db.example/erp?ssl=true&sslcrl=revoked.pem', PARAMETERS],
  // PGHOST would decide.
  ['DATABASE_URL', 'postgresql:///erp', 'postgresql://user:password@host:port/database'],
  // ioredis would connect to another host than the one that was checked, or without TLS.
  ['REDIS_URL', 'redis:///0?host=r.example', NO_QUERY],
  ['REDIS_URL', 'redis://localhost/?path=/run/other.sock', NO_QUERY],
  ['REDIS_URL', 'rediss://r.example/?tls=', NO_QUERY],
  ...['redis:localhost', 'rediss:/r.example', 'http://127.0.0.1:6379', 'localhost:6379'].map(
    (address) => ['REDIS_URL', address, 'redis://host:6379'] as const,
  ),
  // Two parsers read these differently.
  ...TWO_READINGS.flatMap(([end, expected]) => [
    [
      'DATABASE_URL',
      `postgresql://u:p@db.example/erp?sslmode=verify-full${end}`,
      expected,
    ] as const,
    ['REDIS_URL', `rediss://r.example/0${end}`, expected] as const,
  ]),
  ['DATABASE_URL', 'postgresql://u:a#b@localhost:5432/erp', NO_HASH],
  ['SMTP_URL', 'smtp://u:a#b@mail.example:587', NO_HASH],
  ['REDIS_URL', 'redis://:a#b@localhost:6379', NO_HASH],
])('%s is refused: %s', (name, address, expected) => {
  // An SMTP_URL needs a sender and receivers beside it.
  const problems = problemsOf({ [name]: address }).filter((text) => !text.startsWith('SMTP_URL, '));
  expect(problems).toEqual([`${name}: expected ${expected}`]);
});

test.each([
  ['DATABASE_URL', 'postgresql://u:p@localhost/erp?host=db.example', 'db.example'],
  ['REDIS_URL', 'REDIS://r.example', 'r.example'],
  // A parser takes a part of the password for the host.
  ['REDIS_URL', 'redis://s3cret/word@r.example', 'its host'],
  ['DATABASE_URL', 'postgresql://s3cret/word@db.example/erp', 'its host'],
  ['ALERT_WEBHOOK_URL', 'http://s3cret/word@hooks.example', 'its host'],
])('%s is judged by the host and the scheme that the driver takes: %s', (name, address, host) => {
  const problems = problemsOf({ [name]: address });
  const problem = `because the connection to ${host} would not be encrypted`;
  expect(problems).toEqual([expect.stringContaining(problem)]);
  expect(problems[0]).not.toContain('s3cret');
});

describe('ALLOW_PLAINTEXT', () => {
  test.each(['*', '*.example', 'db.example:5432', 'http://db.example', '10.0.0.0/8', '[::1]', ''])(
    'refuses the entry "%s"',
    (entry) => {
      expect(problemsOf({ ALLOW_PLAINTEXT: `redis,${entry}` })).toEqual([
        `ALLOW_PLAINTEXT: got "${entry}", expected host names without ports and wildcards, separated by commas`,
      ]);
    },
  );

  test('does not let PLATFORM_BASE_URL or OIDC_ISSUER_URL go over http', () => {
    const environment = {
      ALLOW_PLAINTEXT: 'platform.example,id.example',
      PLATFORM_BASE_URL: 'http://platform.example',
      PLATFORM_TOKEN: 'token',
      OIDC_ISSUER_URL: 'http://id.example',
      OIDC_CLIENT_ID: 'conciliation',
      CONSOLE_PUBLIC_URL: 'https://conciliation.example',
    };
    const refusal = 'expected https (http only to localhost)';
    expect(problemsOf(environment, { platform: true })).toEqual([
      expect.stringContaining(`PLATFORM_BASE_URL: ${refusal}`),
      expect.stringContaining(`OIDC_ISSUER_URL: ${refusal}`),
    ]);
  });
});
