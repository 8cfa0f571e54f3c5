import { expect, test } from 'vitest';
import {
  auditedSettings,
  type Environment,
  misspeltVariables,
  readConfig,
} from '../../../src/base/config/config.ts';
import { Refusal, SECTIONS, type Variable } from '../../../src/base/config/variables.ts';
import { problemsOf as problemsIn } from './problems.ts';

const GOOD = { PLATFORM_BASE_URL: 'https://platform.example/v1', PLATFORM_TOKEN: 'secret-token' };

const problemsOf = (environment: Environment) => problemsIn(environment, { platform: true });

test('the configuration cannot be changed', () => {
  const config = readConfig(GOOD, { platform: true });
  expect(config.platformBaseUrl?.pathname).toBe('/v1');
  expect(() => Object.assign(config, { dataDir: 'elsewhere' })).toThrow(TypeError);
});

test('all faults are reported together, each with its variable', () => {
  const faulty = {
    'PLATFORM_TOKEN_FILE, PLATFORM_TOKEN': 'b',
    DATABASE_URL: 'mysql://user:secret@host/db',
    REDIS_URL: 'http://:secret@host',
    TIMEZONE: 'Mars/Olympus',
    START_DATE: '1026-02-03',
    PULL_CRON: '0 6 * *',
    SWEEP_CRON: '99 3 * * 0',
    ALERT_WEBHOOK_URL: 'mailto:secret@host',
    'ALERT_WEBHOOK_SECRET_FILE, ALERT_WEBHOOK_SECRET': 'whsec_secret',
    ALERT_WEBHOOK_SECRET: 'whsec_secret',
    'ALERT_SLACK_URL_FILE, ALERT_SLACK_URL': 'http://slack.example/secret',
    ALERT_SLACK_URL: 'http://slack.example/secret',
    ALERT_TEAMS_URL_FILE: 'no-such-file',
    SMTP_URL: 'smtp://user:secret@mail.example/path',
    ALERT_EMAIL_FROM: 'secret',
    ALERT_EMAIL_TO: 'a@example.com, secret',
    PULL_ATTEMPTS: '0',
  };
  const environment = Object.entries(faulty).flatMap(([names, value]) =>
    names.split(', ').map((name) => [name, value] as const),
  );
  const problems = problemsOf(Object.fromEntries(environment));
  expect(problems.map((problem) => problem.split(':')[0]).toSorted()).toEqual(
    ['PLATFORM_BASE_URL', ...Object.keys(faulty)].toSorted(),
  );
  expect(problems.join()).not.toContain('secret');
});

const VARIABLES = Object.values(SECTIONS).flatMap((section) =>
  Object.entries<Variable<unknown>>(section),
);

test.each(VARIABLES.filter(([, { takes }]) => / to \d+$/.test(takes)))(
  '%s takes its bounds and nothing beyond',
  (name, { takes }) => {
    const [min = 0n, max = 0n] = takes.split(' to ').map(BigInt);
    for (const value of [min, max]) {
      expect(problemsOf({ ...GOOD, [name]: String(value) }), String(value)).toEqual([]);
    }
    for (const value of [min - 1n, max + 1n, `${min}.5`]) {
      expect(problemsOf({ ...GOOD, [name]: String(value) })).toEqual([
        `${name}: got "${value}", expected a whole number from ${min} to ${max}`,
      ]);
    }
  },
);

test.each(VARIABLES.filter(([, { example, file }]) => example && (file ?? 'read') === 'read'))(
  'the example of %s is taken',
  (_, { example = '', parse }) => {
    expect(parse(example, new Set())).not.toBeInstanceOf(Refusal);
  },
);

test('the settings of the audit log are text by the names of their variables', () => {
  const environment = { CHECK_SEVERITIES: 'equal_in_day=off', PLAUSIBILITY: 'off' };
  const config = readConfig(environment, { platform: false });
  expect(auditedSettings(config)).toEqual({
    TIMEZONE: 'America/Sao_Paulo',
    BUSINESS_DAY_RULE: 'following',
    ERP_PAYABLES_MAX_AGE_HOURS: '30',
    WITHDRAWAL_LIMIT_PERCENT: '20',
    PLAUSIBILITY: 'off',
    CHECK_SEVERITIES: expect.stringMatching(/^due_before_acceptance=review,.*,equal_in_day=off,/),
    SIGN_OFF_FOUR_EYES: 'on',
    BOOKINGS_FROM: '–',
    AUTO_SIGN_OFF: 'off',
  });
});

test('an empty variable is an unset one', () => {
  expect(problemsOf({ ...GOOD, PLATFORM_TOKEN_FILE: '', PULL_ATTEMPTS: ' ' })).toEqual([]);
});

test('a name that differs from a variable in a letter, or in the place of one, is found', () => {
  const names = ['PULL_CRONN', 'PULL_CRN', 'PULL_CROM', 'PULL_RCON', 'PLATFORM_TOKEN_FIL'];
  const others = ['PULL_CRON', 'PLATFORM_TOKEN_FILE', 'PATH', 'PULL_CR', 'DATABASE_HOST', 'TZ'];
  const environment = Object.fromEntries([...names, ...others].map((name) => [name, 'x']));
  expect(misspeltVariables(environment)).toEqual(
    names.map((name) => [name, name.endsWith('FIL') ? 'PLATFORM_TOKEN_FILE' : 'PULL_CRON']),
  );
});

test('NODE_TLS_REJECT_UNAUTHORIZED=0 is refused with any other configuration', () => {
  const unsafe = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const problems = [expect.stringMatching(/^NODE_TLS_REJECT_UNAUTHORIZED: got "0"/)];
  expect(problemsIn(unsafe)).toEqual(problems);
  expect(problemsOf({ ...GOOD, ...unsafe })).toEqual(problems);
});

const OIDC = {
  CONSOLE_PUBLIC_URL: 'https://conciliation.example.com',
  OIDC_ISSUER_URL: 'https://id.example.com/realms/company',
  OIDC_CLIENT_ID: 'conciliation',
};
const EMAIL = {
  SMTP_URL: 'smtp://user%40host:pass@mail.example',
  ALERT_EMAIL_FROM: 'conciliation@example.com',
  ALERT_EMAIL_TO: 'finance@example.com, ops@example.com',
};

test.each<Record<string, string>>([
  ...[
    'http://localhost:8081',
    'http://127.0.0.1:1/x',
    'http://[::1]:80',
    'https://h.example',
    'HTTPS://H.example:8443/a/prefix',
    'https://[2001:db8::1]:8443',
  ].map((url) => ({ PLATFORM_BASE_URL: url })),
  { NODE_TLS_REJECT_UNAUTHORIZED: '1' },
  { DIGEST: 'on', ALERT_SLACK_URL: 'https://hooks.slack.example/secret' },
  // An issuer on this machine may speak http.
  { ...OIDC, OIDC_ISSUER_URL: 'http://127.0.0.1:9000' },
])('%o is taken', (environment) => {
  expect(problemsOf({ ...GOOD, ...environment })).toEqual([]);
});

test.each<[Record<string, string>, string | RegExp]>([
  ...[
    'http://platform.example',
    'not an address',
    'https://user@h.example',
    'https://u:secret@h.example',
    'https://h.example/?q=1',
    // Characters that a parser drops, converts or misreads.
    'https://@h.example/',
    'https://h.example/@other.example',
    'https:\\\\h.example',
    'https:\\h.example\\@other.example',
    'https://h.example\\@other.example',
    'https:h.example',
    'https://h.exa\tmple',
    'https://pl\u0430tform.example',
    'https://h%2eexample',
    'https://2130706433/',
    'https://[0:0::1]/',
    'http://127.1',
    'http://0.0.0.0',
    'http://127.0.0.1.evil.example',
    'http://[::ffff:127.0.0.1]',
  ].map((url): [Record<string, string>, RegExp] => [
    { PLATFORM_BASE_URL: url },
    /^PLATFORM_BASE_URL: expected/,
  ]),
  ...[
    'proxy.internal',
    '10.0.0.0/33',
    '0.0.0.0/0',
    '10.0.0.0/255.0.0.0',
    '10.0.0.0/8/8',
    '192.0.2.1:443',
    '',
  ].map((entry): [Record<string, string>, string] => [
    { TRUSTED_PROXIES: `192.0.2.1,${entry}` },
    `TRUSTED_PROXIES: got "${entry}", expected IP addresses or blocks such as 10.0.0.0/8, parted by commas`,
  ]),
  [{ ...OIDC, CONSOLE_PUBLIC_URL: '' }, /^CONSOLE_PUBLIC_URL: not set, expected with OIDC_ISSUER/],
  [{ ...OIDC, OIDC_CLIENT_ID: '' }, /^OIDC_CLIENT_ID: not set/],
  [{ ...OIDC, OIDC_ISSUER_URL: '' }, /^OIDC_ISSUER_URL: not set, and OIDC_CLIENT_ID is/],
  [{ ...OIDC, OIDC_ISSUER_URL: 'http://id.example.com' }, /^OIDC_ISSUER_URL: expected https/],
  [{ ...OIDC, OIDC_ISSUER_URL: 'https://u:secret@id.example' }, /^OIDC_ISSUER_URL: expected/],
  [{ ...OIDC, OIDC_CLIENT_SECRET: 'secret', OIDC_CLIENT_SECRET_FILE: 'f' }, /got both/],
  [{ ...OIDC, OIDC_ASSUME_EMAIL_VERIFIED: 'yes' }, /^OIDC_ASSUME_EMAIL_VERIFIED: got "yes"/],
  ...[
    ['?sslmode=no-verify', 'sslmode=verify-full'],
    ['?ssl=no-verify', 'sslmode=verify-full'],
    ['?sslmode=verify-full&sslmode=no-verify', 'sslmode=verify-full'],
    ['?sslmode=require&uselibpqcompat=true', 'an address with no TLS parameters but'],
    ['?sslmode=verify-full&sslrootcert=/nowhere', 'an sslrootcert, .* that can be read .ENOENT.'],
    ['?sslcert=/nowhere', 'an sslrootcert, sslcert .* that can be read .ENOENT.'],
  ].map(([query, expected]): [Record<string, string>, RegExp] => [
    { DATABASE_URL: `postgresql://user:secret@db.example/conciliation${query}` },
    new RegExp(`DATABASE_URL: expected ${expected}`),
  ]),
  [
    { LOG_LEVEL: 'neither' },
    'LOG_LEVEL: got "neither", expected one of fatal, error, warn, info, debug, trace, silent',
  ],
  ...Object.keys(EMAIL).map((missing): [Record<string, string>, string] => [
    { ...EMAIL, [missing]: '' },
    'SMTP_URL, ALERT_EMAIL_FROM, ALERT_EMAIL_TO: expected all of them or none',
  ]),
  [
    { DIGEST: 'on' },
    'DIGEST: on, and none of ALERT_WEBHOOK_URL, ALERT_SLACK_URL, ALERT_TEAMS_URL, ALERT_EMAIL_TO is set',
  ],
])('%o is refused: %s', (environment, problem) => {
  const problems = problemsOf({ ...GOOD, ...environment });
  const isText = typeof problem === 'string';
  expect(problems).toEqual([isText ? problem : expect.stringMatching(problem)]);
  expect(problems[0]).not.toContain('secret');
});

test('trusted proxies are addresses and blocks', () => {
  const text = '192.0.2.10, 10.0.0.0/8,2001:db8::1,fd00::/8';
  const { trustedProxies } = readConfig({ ...GOOD, TRUSTED_PROXIES: text }, { platform: true });
  expect(trustedProxies).toEqual(['192.0.2.10', '10.0.0.0/8', '2001:db8::1', 'fd00::/8']);
});

test('an issuer, a client and the public address are enough, and nothing is assumed', () => {
  const { oidc } = readConfig({ ...GOOD, ...OIDC }, { platform: true });
  expect(oidc).toMatchObject({
    clientId: 'conciliation',
    clientSecret: null,
    assumesVerifiedEmail: false,
  });
  expect(oidc?.issuerUrl.href).toBe(OIDC.OIDC_ISSUER_URL);
  expect(oidc?.publicUrl.href).toBe('https://conciliation.example.com/');
});

test.each([
  [{}, false],
  [{ ALLOW_PLAINTEXT: 'mail.example' }, true],
  [{ SMTP_URL: 'smtp://127.0.0.1:1025' }, true],
  [{ SMTP_URL: 'smtps://mail.example', ALLOW_PLAINTEXT: 'mail.example' }, false],
])('mail needs TLS unless the host is listed: %o', (environment, isPlain) => {
  const { email } = readConfig({ ...GOOD, ...EMAIL, ...environment }, { platform: true });
  const to = ['finance@example.com', 'ops@example.com'];
  expect(email).toMatchObject({ isPlain, from: 'conciliation@example.com', to });
});
