/**
 * The environment variables of the program, declared once: the reader of the configuration, `.env.example` and the
 * tables of docs/configuration.md come from this table (test/unit/docs/configuration.test.ts with `-u` writes both).
 */
import { isIP } from 'node:net';
import { LANGUAGES } from '../texts/texts.ts';
import { type CivilDate, parseCivilDate } from '../values/business-day.ts';
import {
  CHECK_CODES,
  CHECK_SEVERITIES,
  type CheckSeverities,
  DEFAULT_SEVERITIES,
  parseCheckSeverities,
} from '../values/checks.ts';
import {
  databaseAddressFault,
  mailAddressFault,
  type PlaintextHosts,
  redisAddressFault,
  secureAddressFault,
  webAddressFault,
} from './address-faults.ts';
import { cronFault } from './cron-schedule.ts';

export class Refusal {
  readonly expected: string;
  /** Null: the text is or may hold a secret, so that a fault does not quote it. */
  readonly got: string | null;

  constructor(expected: string, got: string | null = null) {
    this.expected = expected;
    this.got = got;
  }
}

export interface Variable<Value> {
  readonly meaning: string;
  /** For the documentation. */
  readonly takes: string;
  /** The text for which an unset variable stands; null: an unset variable is null. */
  readonly initial: string | null;
  /** For the documentation: what it means that such a variable is unset. By default `none`. */
  readonly unset?: string;
  /** For `.env.example`, in place of `initial`. */
  readonly example?: string;
  /**
   * Whether `<variable>_FILE` may name a file with the value. `secret`: the example is such a file. `token`: so it is,
   * and the value is a `Secret`.
   */
  readonly file?: 'read' | 'secret' | 'token';
  /** Whether a change of the value leaves an entry in the audit log. */
  readonly isAudited?: boolean;
  readonly parse: (text: string, plaintextHosts: PlaintextHosts) => Value | Refusal;
}

/** A secret that the program reads when it uses it. At most one of the two is set. */
export interface Secret {
  readonly secret: string | null;
  readonly secretFile: string | null;
}

type About = Partial<
  Pick<Variable<unknown>, 'unset' | 'example' | 'file' | 'isAudited' | 'takes'>
> & {
  readonly meaning: string;
};

const asGiven = (given: string) => given;

const text = <Initial extends string | null>(
  initial: Initial,
  about: About,
): Variable<string | Initial> => ({ takes: 'text', ...about, initial, parse: asGiven });

const integer = (initial: number, min: number, max: number, about: About): Variable<number> => ({
  takes: `${min} to ${max}`,
  ...about,
  initial: String(initial),
  parse(given) {
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= min && value <= max) return value;
    return new Refusal(`a whole number from ${min} to ${max}`, given);
  },
});

const choice = <T extends string>(
  initial: NoInfer<T>,
  choices: readonly T[],
  about: About,
): Variable<T> => ({
  takes: choices.map((each) => `\`${each}\``).join(', '),
  ...about,
  initial,
  parse: (given) =>
    choices.find((each) => each === given) ?? new Refusal(`one of ${choices.join(', ')}`, given),
});

const onOff = (initial: 'on' | 'off', about: About): Variable<boolean> => ({
  takes: '`on`, `off`',
  ...about,
  initial,
  parse: (given) =>
    /^(on|off)$/.test(given) ? given === 'on' : new Refusal('one of on, off', given),
});

const cron = (initial: string, about: About): Variable<string> => ({
  takes: 'a cron expression of five fields',
  ...about,
  initial,
  parse(given) {
    const fault = cronFault(given);
    return fault === null ? given : new Refusal(fault, given);
  },
});

/** A first date. An earlier year is a typing error, and the ledger would get every date since. */
const date = (about: About): Variable<CivilDate | null> => ({
  takes: 'a date',
  ...about,
  initial: null,
  parse(given) {
    const first = parseCivilDate(given);
    return first !== null && first >= '2010-01-01'
      ? first
      : new Refusal('a calendar date from 2010-01-01 on, as YYYY-MM-DD', given);
  },
});

/** Entries that are separated by commas. */
const list = (
  expected: string,
  isEntry: (entry: string) => boolean,
  about: About,
  mayQuote = true,
): Variable<readonly string[]> => ({
  takes: expected,
  ...about,
  initial: '',
  parse(given) {
    const entries = given === '' ? [] : given.split(',').map((entry) => entry.trim());
    const wrong = entries.find((entry) => !isEntry(entry));
    return wrong === undefined ? entries : new Refusal(expected, mayQuote ? wrong : null);
  },
});

/** An address, which may hold a password or a token. */
const address = <Value>(
  fault: (text: string, plaintextHosts: PlaintextHosts) => string | null,
  toValue: (text: string) => Value,
  about: About & { readonly takes: string },
): Variable<Value | null> => ({
  ...about,
  initial: null,
  parse(given, plaintextHosts) {
    const expected = fault(given, plaintextHosts);
    return expected === null ? toValue(given) : new Refusal(expected);
  },
});

const toUrl = (given: string) => new URL(given);

const webhook = (about: About): Variable<URL | null> =>
  address(webAddressFault, toUrl, {
    takes: 'an address as `ALERT_WEBHOOK_URL`',
    ...about,
    file: 'read',
  });

/** The key of the signatures of a webhook. */
const webhookSecret = (about: About): Variable<Buffer | null> => ({
  takes: '`whsec_` and the base64 of 24 to 64 bytes',
  ...about,
  initial: null,
  file: 'secret',
  parse(given) {
    const [, encoded = ''] = /^whsec_(.*)$/s.exec(given) ?? [];
    const key = Buffer.from(encoded, 'base64');
    return key.toString('base64') === encoded && key.length >= 24 && key.length <= 64
      ? key
      : new Refusal('whsec_ and the base64 of 24 to 64 random bytes');
  },
});

const isMailAddress = (given: string) => /^[^\s@<>",;]+@[^\s@<>",;]+$/.test(given);
const MAIL_ADDRESSES = 'e-mail addresses such as finance@example.com';

/** Compose and Kubernetes permit underscores in the names of services. */
const isHost = (given: string) =>
  /^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/i.test(given) || isIP(given) !== 0;

/** A block of all addresses is refused, because every client could then choose its address. */
function isAddressBlock(given: string): boolean {
  const [ip = '', length, ...rest] = given.split('/');
  const version = isIP(ip);
  if (version === 0 || rest.length > 0) return false;
  const longest = version === 4 ? 32 : 128;
  return length === undefined || (/^[1-9]\d{0,2}$/.test(length) && Number(length) <= longest);
}

function publicAddressFault(given: string, plaintextHosts: PlaintextHosts): string | null {
  const url = URL.canParse(given) ? new URL(given) : null;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isWeb && url.pathname === '/' && url.search === '' && url.username === ''
    ? webAddressFault(given, plaintextHosts)
    : 'an address such as https://conciliation.example.com, without a path';
}

const hosts = list('host names without ports and wildcards, separated by commas', isHost, {
  takes: 'host names or IP addresses, separated by commas',
  example: '',
  meaning: 'The hosts to which connections may be unencrypted.',
});

const severities: Variable<CheckSeverities> = {
  takes:
    'checks with `off`, `info` or `review`, separated by commas: `tax_id_invalid=info,equal_in_day=off`',
  initial: '',
  example: 'tax_id_invalid=info,equal_in_day=off',
  isAudited: true,
  meaning: 'Other severities for the [checks of the titles](console.md#checks-of-the-titles).',
  parse: (given) =>
    given === ''
      ? DEFAULT_SEVERITIES
      : (parseCheckSeverities(given) ??
        new Refusal(
          `<check>=${CHECK_SEVERITIES.join('|')} for some of ${CHECK_CODES.join(', ')}, each once, separated by commas`,
          given,
        )),
};

const timeZone: Variable<string> = {
  takes: 'an IANA time zone',
  initial: 'America/Sao_Paulo',
  isAudited: true,
  meaning:
    'The time zone that decides which dates are over. `PULL_CRON`, `SWEEP_CRON` and the time of the digest are in this time zone.',
  parse(given) {
    try {
      new Intl.DateTimeFormat('en-US', { timeZone: given });
      return given;
    } catch {
      return new Refusal('an IANA time zone such as America/Sao_Paulo', given);
    }
  },
};

const platformToken: Variable<Secret> = {
  takes: 'text',
  initial: null,
  unset: 'required',
  example: '/run/secrets/platform-token',
  file: 'token',
  parse: (given) => ({ secret: given, secretFile: null }),
  meaning:
    'The bearer token. The program reads the file before each request. Replace the file in one step: write a new file in the same folder and rename that file. Without a file, a new token needs a restart. See [the token](operating.md#the-token).',
};

/** The sections of docs/configuration.md with their variables. A variable is null where it is unset and has no `initial`. */
export const SECTIONS = {
  'The platform': {
    PLATFORM_BASE_URL: address(
      (given) => secureAddressFault(given, 'the token must not travel in the clear'),
      toUrl,
      {
        takes: 'an `https://` address; `http://` for localhost only',
        unset: 'required',
        example: 'https://platform.example',
        meaning: 'The address of the platform. A path prefix is kept.',
      },
    ),
    PLATFORM_TOKEN: platformToken,
    PLATFORM_CONCURRENCY: integer(4, 1, 64, {
      meaning:
        'The greatest number of requests that one process sends to the platform at the same time.',
    }),
    PLATFORM_TIMEOUT_SECONDS: integer(60, 1, 3600, {
      meaning:
        'An attempt ends when no byte has arrived for this time. All processes on one database need the same value.',
    }),
  },
  'The database': {
    DATABASE_URL: address(databaseAddressFault, asGiven, {
      file: 'read',
      takes: 'a `postgresql://` address',
      unset: 'a PostgreSQL that the program starts itself',
      example: 'postgresql://conciliation:secret@db.internal:5432/erp?sslmode=verify-full',
      meaning:
        'The staging database, PostgreSQL 15 or newer. With TLS: `?sslmode=verify-full&sslrootcert=<file>`. [Without TLS](#plain-connections) only on loopback and through a Unix socket.',
    }),
    DATA_DIR: text('.data', {
      takes: 'a folder',
      meaning:
        'The folder of the embedded PostgreSQL and of its password. Only the owner of the folder can read it.',
    }),
  },
  Dates: {
    TIMEZONE: timeZone,
    BUSINESS_DAY_RULE: choice('following', ['following', 'preceding'], {
      isAudited: true,
      meaning:
        'The [business day](matching.md#business-days) on which a payment that is due on a day without service is made.',
    }),
    START_DATE: date({
      takes: 'a date that is over, as `YYYY-MM-DD`',
      unset: 'the day before the first start',
      example: '2026-01-01',
      meaning:
        'The first date of the ledger. The database remembers the date, and a later value is ignored with a warning. [`start-date set`](commands.md#start-date-set) corrects the remembered date.',
    }),
  },
  'The queue': {
    REDIS_URL: address(redisAddressFault, asGiven, {
      file: 'read',
      takes: 'a `redis://` or `rediss://` address',
      unset: 'the queue is in the staging database',
      example: 'redis://localhost:6379',
      meaning:
        'The queue, on Redis 6.2 or newer with `maxmemory-policy noeviction`: jobs that are evicted come back a minute later. Node.js trusts the authority of a `rediss://` server through `NODE_EXTRA_CA_CERTS`. `redis://` is [plain](#plain-connections).',
    }),
  },
  'Schedule and retries': {
    PULL_CRON: cron('0 6 * * *', {
      meaning:
        'When the daily run pulls the day before. The service makes up a missed run within a minute after the service starts.',
    }),
    ERP_PAYABLES_MAX_AGE_HOURS: integer(30, 1, 8_760, {
      isAudited: true,
      meaning:
        "The age from which the last complete snapshot of the ERP's payables raises the alert `payables_stale`. See [ERP payables](integration.md#payables).",
    }),
    LOOKBACK_DAYS: integer(7, 0, 365, {
      meaning: 'The number of days before yesterday that each daily run pulls again.',
    }),
    SWEEP_CRON: cron('0 3 * * 0', {
      meaning:
        'When a [sweep](operating.md#sweeps) compares all dates since the oldest date that has a title not yet due.',
    }),
    PULL_ATTEMPTS: integer(8, 1, 100, {
      meaning: 'The greatest number of attempts at one pull.',
    }),
    PULL_BACKOFF_SECONDS: integer(30, 1, 3600, {
      meaning:
        'The wait after the first failed attempt. The wait doubles with each attempt, up to an hour.',
    }),
    WITHDRAWAL_LIMIT_PERCENT: integer(20, 0, 100, {
      isAudited: true,
      meaning:
        'A response with which a day, or one buyer with at least 5 titles, loses a greater share of its titles is [held](console.md#lost-titles) for a person. Half of this share holds over the dates of [a run](console.md#the-limit-of-a-run). With 100, a response is held only if it empties a day or if none of its titles can be read.',
    }),
    PLAUSIBILITY: onOff('on', {
      isAudited: true,
      meaning:
        '`on`: a response that is not [plausible](console.md#checks-of-the-response) is held. `off`: a response is held only if the date becomes empty or loses too many titles, or if no title can be read; titles that one buyer loses hold no response.',
    }),
    CHECK_SEVERITIES: severities,
  },
  'The console': {
    CONSOLE_HOST: text('127.0.0.1', {
      takes: 'an address or a host name',
      meaning: 'Where the console listens: pages, `/api`, `/healthz`, `/readyz` and `/metrics`.',
    }),
    CONSOLE_PORT: integer(8080, 0, 65_535, {
      meaning: 'The port of the console. 0 takes a free port.',
    }),
    CONSOLE_PUBLIC_URL: address(publicAddressFault, toUrl, {
      takes: 'an `https://` address without a path; [`http://`](#plain-connections) for localhost',
      unset: 'the address where the console listens',
      example: 'https://conciliation.example.com',
      meaning:
        'The address that browsers use if a proxy with TLS is in front of the console. Cookies are then sent over https only, and password links begin with this address. Unset, alerts have no links.',
    }),
    TRUSTED_PROXIES: list(
      'IP addresses or blocks such as 10.0.0.0/8, parted by commas',
      isAddressBlock,
      {
        takes: 'addresses or CIDR blocks, separated by commas',
        example: '192.0.2.10',
        meaning:
          "The proxies in front of the console. The console takes the client's address from the `X-Forwarded-For` header of these proxies. See [behind a proxy](deployment.md#behind-a-proxy).",
      },
    ),
    OIDC_ISSUER_URL: address(
      (given) => secureAddressFault(given, 'otherwise an attacker on the network could sign in'),
      toUrl,
      {
        takes: 'an `https://` address',
        example: 'https://id.example.com/realms/company',
        meaning:
          'The OpenID Connect provider of [company accounts](console.md#company-accounts). Needs `OIDC_CLIENT_ID` and `CONSOLE_PUBLIC_URL`. Unset: users sign in with passwords only.',
      },
    ),
    OIDC_CLIENT_ID: text(null, {
      example: 'conciliation',
      meaning: 'The name of the console at that provider.',
    }),
    OIDC_CLIENT_SECRET: text(null, {
      file: 'secret',
      example: '/run/secrets/oidc-client-secret',
      meaning:
        'The secret of the console at that provider. Without a secret the console is a public client.',
    }),
    OIDC_ASSUME_EMAIL_VERIFIED: onOff('off', {
      meaning:
        '`on`: an e-mail address counts as verified when the provider states nothing about it.',
    }),
    CONSOLE_SECOND_FACTOR: choice('optional', ['optional', 'required'], {
      meaning:
        '`required`: a user who signs in with a password has to set up a [second factor](console.md#second-factor) before anything else. Company accounts and keys are exempt.',
    }),
    SIGN_OFF_FOUR_EYES: onOff('on', {
      isAudited: true,
      meaning:
        '`on`: a person who [decided about a day](console.md#two-people) cannot sign that day off. An administrator who became a reviewer cannot sign a date off that was open then.',
    }),
    BOOKINGS_FROM: date({
      example: '2026-03-01',
      isAudited: true,
      meaning:
        'The first accepted date whose sign-offs release [bookings](bookings.md), after the newest date that is signed off. The first release [stores the date](bookings.md#beginning), which then moves past no date that has lines. Not set: no sign-off releases bookings.',
    }),
    AUTO_SIGN_OFF: choice('off', ['off', 'clean'], {
      isAudited: true,
      meaning:
        '`clean`: the program makes the [first sign-off of a day](bookings.md#signing-off-without-a-person) that has nothing to decide. Requires `BOOKINGS_FROM`.',
    }),
  },
  'Alerts and the log': {
    ALERT_LANGUAGE: choice('en', LANGUAGES, {
      meaning: 'The language of the messages of [alerts](operating.md#alerts) and of the digest.',
    }),
    ALERT_WEBHOOK_URL: webhook({
      takes: 'an `https://` address, [`http://`](#plain-connections) for localhost',
      example: 'https://hooks.example/conciliation',
      meaning: 'Receives each alert as a JSON POST. The address is treated as a secret.',
    }),
    ALERT_WEBHOOK_SECRET: webhookSecret({
      example: '/run/secrets/webhook-secret',
      meaning:
        'The secret with which alerts are [signed](operating.md#signed-webhooks). Without a secret, alerts carry no signature.',
    }),
    ALERT_SLACK_URL: webhook({
      meaning: 'An incoming webhook of Slack, which receives each alert.',
    }),
    ALERT_TEAMS_URL: webhook({
      meaning:
        'A workflow of Microsoft Teams that begins when a webhook request is received. The workflow receives each alert as an Adaptive Card.',
    }),
    SMTP_URL: address(mailAddressFault, toUrl, {
      file: 'read',
      takes: 'an `smtp://` or `smtps://` address',
      example: 'smtp://conciliation@mail.example.com:587',
      meaning:
        'The server for e-mail, with the user if the server requires one: `smtp://user@mail.example.com:587`. `smtps://` begins with TLS. `smtp://` requires STARTTLS, except on loopback and for hosts in [`ALLOW_PLAINTEXT`](#plain-connections), where the connection is not encrypted. Needs `ALERT_EMAIL_FROM` and `ALERT_EMAIL_TO`.',
    }),
    ALERT_EMAIL_FROM: address((given) => (isMailAddress(given) ? null : MAIL_ADDRESSES), asGiven, {
      takes: 'an e-mail address',
      example: 'conciliation@example.com',
      meaning: 'The sender of alerts.',
    }),
    ALERT_EMAIL_TO: list(
      MAIL_ADDRESSES,
      isMailAddress,
      {
        takes: 'e-mail addresses, separated by commas',
        example: 'finance@example.com,operations@example.com',
        meaning: 'The receivers of alerts.',
      },
      false,
    ),
    DIGEST: onOff('off', {
      meaning:
        '`on`: every channel of alerts receives the [daily digest](operating.md#the-daily-digest) at 08:00.',
    }),
    LOG_LEVEL: choice('info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      meaning:
        'Log lines are written to standard error. Commands other than `start` log fatal errors only, unless this variable is set.',
    }),
  },
  'Plain connections': { ALLOW_PLAINTEXT: hosts },
};
