import {
  ALERT_CHANNELS,
  ALERT_LANGUAGES,
  type AlertChannel,
  type AlertLanguage,
} from '../domain/alerts/alert.ts';
import { BOOKING_LIMITS } from '../domain/alerts/erp-alerts.ts';
import type { AmountMeanings } from '../domain/amount-meaning.ts';
import type { CivilDate } from '../domain/business-day.ts';
import type { CheckSeverities } from '../domain/checks/checks.ts';
import type { PlausibilityLimits } from '../domain/checks/plausibility.ts';
import { ConfigError } from '../runtime/errors.ts';
import { readSecretFile } from '../runtime/secret-file.ts';
import {
  databaseAddressFault,
  fileFault,
  isPlainHost,
  mailAddressFault,
  type PlaintextHosts,
  redisAddressFault,
  secureAddressFault,
  webAddressFault,
  webhookAddressFault,
} from './address-faults.ts';
import { type Environment, EnvironmentReader } from './environment-reader.ts';

/**
 * The complete configuration from the environment, checked once; docs/configuration.md describes
 * each variable.
 */
export interface Config {
  /**
   * Null for commands with a platform of their own (`demo`, `sandbox`) and commands without one (`status`).
   */
  readonly platform: PlatformConfig | null;
  /** With the password of DATABASE_PASSWORD_FILE. Null: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly timeZone: string;
  readonly startDate: CivilDate | null;
  /** With the password of REDIS_PASSWORD_FILE. Null: the queue is in the staging database. */
  readonly redisUrl: string | null;
  /** PEM file of the certificate authority for Redis; null: the authorities of Node. */
  readonly redisCaFile: string | null;
  readonly pullCron: string;
  /** Age in hours from which the ERP's payables count as stale. */
  readonly erpPayablesMaxAgeHours: number;
  readonly lookbackDays: number;
  readonly sweepCron: string;
  readonly sweepDays: number;
  readonly sweepMaxDays: number;
  readonly consoleHost: string;
  readonly consolePort: number;
  /** The address of the console for browsers, behind a proxy; null: the address on which it listens. */
  readonly consolePublicUrl: URL | null;
  /** IP addresses and blocks of the proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Null: passwords are the only way to sign in to the console. */
  readonly oidc: OidcConfig | null;
  /** Whether users who sign in with a password have to set up a second factor. */
  readonly requiresSecondFactor: boolean;
  /** Whether a user who decided about a day may not sign it off. */
  readonly signOffFourEyes: boolean;
  /** The first accepted date whose seals release bookings; null: seals release nothing. */
  readonly bookingsFrom: CivilDate | null;
  /** Whether the program makes the first seal of a day without anything to decide, from `bookingsFrom` on. */
  readonly signsCleanDays: boolean;
  /** Days after its release from which a line without an answer is overdue. */
  readonly bookingsOverdueDays: number;
  /** Days after the offer of a line from which its consumer is behind. */
  readonly bookingsBehindDays: number;
  /** The webhook that wakes the readers of the booking feed. A secret, because the URL may hold a token. */
  readonly bookingsWebhookUrl: URL | null;
  readonly bookingsWebhookSecretFile: string | null;
  readonly bookingsWebhookSecret: string | null;
  /** What the buyer knows about the amounts that the interface does not document. */
  readonly amountMeanings: AmountMeanings;
  readonly alertLanguage: AlertLanguage;
  /** The addresses of channels are never logged: path or query may hold a secret. */
  readonly alertWebhookUrl: URL | null;
  /** At most one of the two is set; neither: webhooks carry no signature. */
  readonly alertWebhookSecretFile: string | null;
  readonly alertWebhookSecret: string | null;
  readonly alertSlackUrl: URL | null;
  readonly alertTeamsUrl: URL | null;
  /** Null: alerts are not sent by e-mail. */
  readonly alertEmail: EmailConfig | null;
  readonly digestCron: string;
  /** The channels that receive the daily digest. */
  readonly digestChannels: readonly AlertChannel[];
  readonly pullAttempts: number;
  readonly pullBackoffSeconds: number;
  readonly withdrawalLimitPercent: number;
  readonly plausibility: PlausibilityLimits;
  readonly checkSeverities: CheckSeverities;
  /** See `CheckParameters`. */
  readonly feeFactor: number;
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'pretty';
}

export interface PlatformConfig {
  readonly baseUrl: URL;
  /** Exactly one of the two is set. */
  readonly tokenFile: string | null;
  readonly token: string | null;
  readonly concurrency: number;
  readonly timeoutSeconds: number;
  /** Time limit for an answer with titles. */
  readonly maxMinutes: number;
  readonly maxBytes: number;
  readonly minBytesPerSecond: number;
  readonly maxTitles: number;
}

interface EmailConfig {
  /** With the password of SMTP_PASSWORD_FILE. */
  readonly url: URL;
  /** Without TLS, on this machine or to a host of ALLOW_PLAINTEXT. */
  readonly isPlain: boolean;
  readonly from: string;
  readonly to: readonly string[];
}

export type { Environment } from './environment-reader.ts';

interface OidcConfig {
  readonly issuerUrl: URL;
  readonly clientId: string;
  /** At most one of the two is set; neither for a public client. */
  readonly clientSecretFile: string | null;
  readonly clientSecret: string | null;
  /** The address to which the provider redirects browsers. */
  readonly publicUrl: URL;
  readonly assumesVerifiedEmail: boolean;
  readonly signsOutAtProvider: boolean;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * @param needs the variables that the command requires; with `platform: false`, `PLATFORM_*` is not read
 * @throws ConfigError with every invalid variable
 */
export function readConfig(
  environment: Environment,
  needs: { readonly platform: boolean },
): Config {
  const reader = new EnvironmentReader(environment);
  refuseTrustInAnybody(reader);
  const plaintextHosts = new Set(reader.hosts('ALLOW_PLAINTEXT'));
  const consolePublicUrl = readPublicUrl(reader, plaintextHosts);
  const config: Config = {
    platform: needs.platform ? readPlatform(reader) : null,
    databaseUrl: readDatabaseUrl(reader, plaintextHosts),
    dataDir: reader.text('DATA_DIR') ?? '.data',
    timeZone: reader.timeZone('TIMEZONE', 'America/Sao_Paulo'),
    startDate: reader.date('START_DATE'),
    ...readRedis(reader, plaintextHosts),
    pullCron: reader.cron('PULL_CRON', '0 6 * * *'),
    erpPayablesMaxAgeHours: reader.integer('ERP_PAYABLES_MAX_AGE_HOURS', 30, 1, 8_760),
    lookbackDays: reader.integer('LOOKBACK_DAYS', 7, 0, 365),
    sweepCron: reader.cron('SWEEP_CRON', '0 3 * * 0'),
    ...readSweepReach(reader),
    consoleHost: reader.text('CONSOLE_HOST') ?? '127.0.0.1',
    consolePort: reader.integer('CONSOLE_PORT', 8080, 0, 65_535),
    consolePublicUrl,
    trustedProxies: reader.addressBlocks('TRUSTED_PROXIES'),
    oidc: readOidc(reader, consolePublicUrl),
    requiresSecondFactor:
      reader.choice('CONSOLE_SECOND_FACTOR', 'optional', ['optional', 'required']) === 'required',
    amountMeanings: reader.amountMeanings('AMOUNT_MEANING'),
    signOffFourEyes: reader.choice('SIGN_OFF_FOUR_EYES', 'on', ['on', 'off']) === 'on',
    ...readBookings(reader, plaintextHosts),
    ...readAlertChannels(reader, plaintextHosts),
    pullAttempts: reader.integer('PULL_ATTEMPTS', 8, 1, 100),
    pullBackoffSeconds: reader.integer('PULL_BACKOFF_SECONDS', 30, 1, 3600),
    withdrawalLimitPercent: reader.integer('WITHDRAWAL_LIMIT_PERCENT', 20, 0, 100),
    plausibility: {
      duplicatePercent: reader.integer('DUPLICATE_LIMIT_PERCENT', 25, 0, 100),
      growthFactor: reader.integer('GROWTH_LIMIT', 5, 2, 1_000_000),
      changedPercent: reader.integer('CHANGED_LIMIT_PERCENT', 50, 0, 100),
      valueFactor: reader.integer('VALUE_LIMIT', 20, 2, 1_000_000),
    },
    checkSeverities: reader.checkSeverities('CHECK_SEVERITIES'),
    feeFactor: reader.integer('FEE_LIMIT', 3, 1, 1_000_000),
    logLevel: reader.choice('LOG_LEVEL', 'info', LOG_LEVELS),
    logFormat: reader.choice('LOG_FORMAT', process.stderr.isTTY ? 'pretty' : 'json', [
      'json',
      'pretty',
    ]),
  };
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return Object.freeze(config);
}

function readBookings(
  reader: EnvironmentReader,
  allowed: PlaintextHosts,
): Pick<
  Config,
  | 'bookingsFrom'
  | 'signsCleanDays'
  | 'bookingsOverdueDays'
  | 'bookingsBehindDays'
  | 'bookingsWebhookUrl'
  | 'bookingsWebhookSecretFile'
  | 'bookingsWebhookSecret'
> {
  const bookingsFrom = reader.date('BOOKINGS_FROM');
  const signsCleanDays = reader.choice('AUTO_SIGN_OFF', 'off', ['off', 'clean']) === 'clean';
  if (signsCleanDays && reader.text('BOOKINGS_FROM') === null) {
    reader.problems.push('BOOKINGS_FROM: not set, expected with AUTO_SIGN_OFF=clean');
  }
  const bookingsWebhookUrl = readWebhookUrl(reader, 'BOOKINGS_WEBHOOK_URL', allowed);
  if (bookingsWebhookUrl !== null && reader.text('BOOKINGS_FROM') === null) {
    reader.problems.push('BOOKINGS_FROM: not set, expected with BOOKINGS_WEBHOOK_URL');
  }
  const { secretFile, secret } = readWebhookSecret(reader, 'BOOKINGS_WEBHOOK_SECRET');
  return {
    bookingsFrom,
    signsCleanDays,
    bookingsOverdueDays: reader.integer(
      'BOOKINGS_OVERDUE_DAYS',
      BOOKING_LIMITS.overdueDays,
      1,
      365,
    ),
    bookingsBehindDays: reader.integer('BOOKINGS_BEHIND_DAYS', BOOKING_LIMITS.behindDays, 1, 365),
    bookingsWebhookUrl,
    bookingsWebhookSecretFile: secretFile,
    bookingsWebhookSecret: secret,
  };
}

/** 16 GiB. */
const DEFAULT_MAX_BYTES = 16 * 1024 ** 3;
const DEFAULT_MAX_TITLES = 10_000_000;

function readPlatform(reader: EnvironmentReader): PlatformConfig | null {
  const baseUrl = readBaseUrl(reader);
  const tokenFile = reader.text('PLATFORM_TOKEN_FILE');
  const token = reader.text('PLATFORM_TOKEN');
  if ((tokenFile === null) === (token === null)) {
    reader.problems.push(
      `PLATFORM_TOKEN_FILE, PLATFORM_TOKEN: got ${token === null ? 'neither' : 'both'}, expected one of them`,
    );
  }
  const concurrency = reader.integer('PLATFORM_CONCURRENCY', 4, 1, 64);
  const timeoutSeconds = reader.integer('PLATFORM_TIMEOUT_SECONDS', 60, 1, 3600);
  const maxMinutes = reader.integer('PLATFORM_MAX_MINUTES', 60, 1, 1440);
  const maxBytes = reader.integer(
    'PLATFORM_MAX_BYTES',
    DEFAULT_MAX_BYTES,
    1024 * 1024,
    Number.MAX_SAFE_INTEGER,
  );
  const minBytesPerSecond = reader.integer('PLATFORM_MIN_BYTES_PER_SECOND', 1000, 0, 1_000_000);
  // `day.title_count` and the folds of the ledger are 32-bit integers.
  const maxTitles = reader.integer('PLATFORM_MAX_TITLES', DEFAULT_MAX_TITLES, 1, 2_000_000_000);
  const limits = { timeoutSeconds, maxMinutes, maxBytes, minBytesPerSecond, maxTitles };
  return baseUrl === null ? null : { baseUrl, tokenFile, token, concurrency, ...limits };
}

/** At most ten years: a sweep keeps a fold of each date in memory. */
function readSweepReach(reader: EnvironmentReader): Pick<Config, 'sweepDays' | 'sweepMaxDays'> {
  const sweepDays = reader.integer('SWEEP_DAYS', 45, 1, 366);
  const sweepMaxDays = reader.integer('SWEEP_MAX_DAYS', 400, 1, 3652);
  if (sweepMaxDays < sweepDays) {
    reader.problems.push(
      `SWEEP_MAX_DAYS: got ${sweepMaxDays}, expected at least SWEEP_DAYS, which is ${sweepDays}`,
    );
  }
  return { sweepDays, sweepMaxDays };
}

const OIDC_VARIABLES = [
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET_FILE',
  'OIDC_CLIENT_SECRET',
  'OIDC_ASSUME_EMAIL_VERIFIED',
  'OIDC_SIGN_OUT',
] as const;

function readOidc(reader: EnvironmentReader, publicUrl: URL | null): OidcConfig | null {
  const issuer = reader.text('OIDC_ISSUER_URL');
  if (issuer === null) {
    const set = OIDC_VARIABLES.filter((name) => reader.text(name) !== null);
    if (set.length > 0) reader.problems.push(`OIDC_ISSUER_URL: not set, and ${set.join(', ')} is`);
    return null;
  }
  const issuerUrl = readSecureUrl(
    reader,
    'OIDC_ISSUER_URL',
    issuer,
    'otherwise an attacker on the network could sign in',
  );
  const clientId = reader.text('OIDC_CLIENT_ID');
  if (clientId === null) {
    reader.problems.push("OIDC_CLIENT_ID: not set, expected the console's name at the provider");
  }
  const clientSecretFile = reader.text('OIDC_CLIENT_SECRET_FILE');
  const clientSecret = reader.text('OIDC_CLIENT_SECRET');
  if (clientSecretFile !== null && clientSecret !== null) {
    reader.problems.push(
      'OIDC_CLIENT_SECRET_FILE, OIDC_CLIENT_SECRET: got both, expected at most one of them',
    );
  }
  if (publicUrl === null && reader.text('CONSOLE_PUBLIC_URL') === null) {
    reader.problems.push(
      'CONSOLE_PUBLIC_URL: not set, expected with OIDC_ISSUER_URL, because the provider sends browsers back there',
    );
  }
  const assumesVerifiedEmail =
    reader.choice('OIDC_ASSUME_EMAIL_VERIFIED', 'off', ['on', 'off']) === 'on';
  const signsOutAtProvider = reader.choice('OIDC_SIGN_OUT', 'on', ['on', 'off']) === 'on';
  if (issuerUrl === null || clientId === null || publicUrl === null) return null;
  return {
    issuerUrl,
    clientId,
    clientSecretFile,
    clientSecret,
    publicUrl,
    assumesVerifiedEmail,
    signsOutAtProvider,
  };
}

function readBaseUrl(reader: EnvironmentReader): URL | null {
  const name = 'PLATFORM_BASE_URL';
  const text = reader.text(name);
  if (text === null) {
    reader.problems.push(`${name}: not set, expected the platform's address, https://…`);
    return null;
  }
  return readSecureUrl(reader, name, text, 'the token must not travel in the clear');
}

function readSecureUrl(
  reader: EnvironmentReader,
  name: string,
  text: string,
  whyHttps: string,
): URL | null {
  const fault = secureAddressFault(text, whyHttps);
  if (fault !== null) reader.secretFault(name, fault);
  return fault === null ? new URL(text) : null;
}

/** The addresses may hold a password. A fault describes the problem and never quotes the address. */
function readDatabaseUrl(reader: EnvironmentReader, allowed: PlaintextHosts): string | null {
  const text = reader.text('DATABASE_URL');
  const fault = text === null ? null : databaseAddressFault(text, allowed);
  if (fault !== null) reader.secretFault('DATABASE_URL', fault);
  return withPassword(reader, 'DATABASE', fault === null ? text : null);
}

/**
 * Returns the address with the password of the file that `<service>_PASSWORD_FILE` names.
 *
 * @param address null: not set, or invalid
 */
function withPassword(
  reader: EnvironmentReader,
  service: 'DATABASE' | 'REDIS' | 'SMTP',
  address: string | null,
): string | null {
  const [variable, urlVariable] = [`${service}_PASSWORD_FILE`, `${service}_URL`];
  const path = reader.text(variable);
  if (path === null) return address;
  if (address === null) {
    if (reader.text(urlVariable) === null) {
      reader.problems.push(`${variable}: set, and ${urlVariable} is not`);
    }
    return null;
  }
  const url = new URL(address);
  if (url.password !== '' || url.searchParams.has('password')) {
    reader.problems.push(
      `${variable}, ${urlVariable}: got two passwords, expected ${urlVariable} without a password`,
    );
  }
  const read = readSecretFile(path);
  if ('fault' in read) {
    reader.problems.push(`${variable}: ${read.fault}`);
    return null;
  }
  url.password = encodeURIComponent(read.secret);
  // An address without a host, such as that of a socket, has no place for a password before the host.
  if (url.password === '') url.searchParams.set('password', read.secret);
  return url.href;
}

function readRedis(
  reader: EnvironmentReader,
  allowed: PlaintextHosts,
): Pick<Config, 'redisUrl' | 'redisCaFile'> {
  const redisUrl = reader.text('REDIS_URL');
  const urlFault = redisUrl === null ? null : redisAddressFault(redisUrl, allowed);
  if (urlFault !== null) reader.secretFault('REDIS_URL', urlFault);
  const completeUrl = withPassword(reader, 'REDIS', urlFault === null ? redisUrl : null);
  const redisCaFile = reader.text('REDIS_CA_FILE');
  if (redisCaFile !== null) {
    const fault = fileFault(redisCaFile);
    if (fault !== null) {
      reader.problems.push(`REDIS_CA_FILE: cannot read ${redisCaFile} (${fault})`);
    }
    if (!/^rediss:/i.test(redisUrl ?? '')) {
      reader.problems.push('REDIS_CA_FILE: takes a REDIS_URL that begins with rediss://');
    }
  }
  return { redisUrl: completeUrl, redisCaFile };
}

/** NODE_TLS_REJECT_UNAUTHORIZED=0 would make Node accept any certificate from any server. */
function refuseTrustInAnybody(reader: EnvironmentReader): void {
  const name = 'NODE_TLS_REJECT_UNAUTHORIZED';
  if (reader.text(name) !== '0') return;
  reader.problems.push(
    `${name}: got "0", expected it unset: certificates are always checked; name a CA of your own with NODE_EXTRA_CA_CERTS`,
  );
}

function readAlertChannels(
  reader: EnvironmentReader,
  allowed: PlaintextHosts,
): Pick<
  Config,
  | 'alertLanguage'
  | 'alertWebhookUrl'
  | 'alertWebhookSecretFile'
  | 'alertWebhookSecret'
  | 'alertSlackUrl'
  | 'alertTeamsUrl'
  | 'alertEmail'
  | 'digestCron'
  | 'digestChannels'
> {
  const alertLanguage = reader.choice('ALERT_LANGUAGE', 'en', ALERT_LANGUAGES);
  const alertWebhookUrl = readWebhookUrl(reader, 'ALERT_WEBHOOK_URL', allowed);
  const { secretFile, secret } = readWebhookSecret(reader, 'ALERT_WEBHOOK_SECRET');
  const channels = {
    alertLanguage,
    alertWebhookUrl,
    alertWebhookSecretFile: secretFile,
    alertWebhookSecret: secret,
    alertSlackUrl: readWebhookUrl(reader, 'ALERT_SLACK_URL', allowed),
    alertTeamsUrl: readWebhookUrl(reader, 'ALERT_TEAMS_URL', allowed),
    alertEmail: readEmail(reader, allowed),
    digestCron: reader.cron('DIGEST_CRON', '0 8 * * *'),
  };
  return { ...channels, digestChannels: readDigestChannels(reader) };
}

/** A channel of the digest has to be configured. */
function readDigestChannels(reader: EnvironmentReader): AlertChannel[] {
  const name = 'DIGEST_CHANNELS';
  const variables: Readonly<Record<AlertChannel, readonly string[]>> = {
    webhook: ['ALERT_WEBHOOK_URL', 'ALERT_WEBHOOK_URL_FILE'],
    slack: ['ALERT_SLACK_URL', 'ALERT_SLACK_URL_FILE'],
    teams: ['ALERT_TEAMS_URL', 'ALERT_TEAMS_URL_FILE'],
    email: ['ALERT_EMAIL_TO'],
  };
  const entries = reader.text(name)?.split(',') ?? [];
  return entries.flatMap((entry) => {
    const channel = ALERT_CHANNELS.find((known) => known === entry.trim());
    if (channel === undefined) {
      reader.problems.push(`${name}: expected channels of ${ALERT_CHANNELS.join(', ')}`);
      return [];
    }
    if (variables[channel].every((variable) => reader.text(variable) === null)) {
      reader.problems.push(`${name}: has ${channel}, and ${variables[channel][0]} is not set`);
    }
    return [channel];
  });
}

/** The secret, or the file that holds it. */
function readWebhookSecret(reader: EnvironmentReader, name: string) {
  const [secretFile, secret] = [reader.text(`${name}_FILE`), reader.text(name)];
  if (secretFile !== null && secret !== null) {
    reader.problems.push(`${name}_FILE, ${name}: got both, expected at most one of them`);
  }
  return { secretFile, secret };
}

/** The address, or the content of the file that `<name>_FILE` names. */
function readWebhookUrl(
  reader: EnvironmentReader,
  name: string,
  allowed: PlaintextHosts,
): URL | null {
  const path = reader.text(`${name}_FILE`);
  let text = reader.text(name);
  if (path !== null && text !== null) {
    reader.problems.push(`${name}_FILE, ${name}: got both, expected at most one of them`);
  } else if (path !== null) {
    const read = readSecretFile(path);
    if ('fault' in read) reader.problems.push(`${name}_FILE: ${read.fault}`);
    else text = read.secret;
  }
  if (text === null) return null;
  const fault = webhookAddressFault(text, allowed);
  if (fault !== null) reader.secretFault(name, fault);
  return fault === null ? new URL(text) : null;
}

function readEmail(reader: EnvironmentReader, allowed: PlaintextHosts): EmailConfig | null {
  const text = reader.text('SMTP_URL');
  const fault = text === null ? null : mailAddressFault(text);
  if (fault !== null) reader.secretFault('SMTP_URL', fault);
  const address = withPassword(reader, 'SMTP', fault === null ? text : null);
  const from = reader.text('ALERT_EMAIL_FROM');
  const to = (reader.text('ALERT_EMAIL_TO') ?? '').split(',').map((entry) => entry.trim());
  const given = [text, from, reader.text('ALERT_EMAIL_TO')].filter((value) => value !== null);
  if (given.length === 0) return null;
  if (given.length < 3) {
    reader.problems.push(
      'SMTP_URL, ALERT_EMAIL_FROM, ALERT_EMAIL_TO: expected all of them or none',
    );
    return null;
  }
  for (const [name, addresses] of [
    ['ALERT_EMAIL_FROM', [from ?? '']],
    ['ALERT_EMAIL_TO', to],
  ] as const) {
    if (!addresses.every((entry) => MAIL_ADDRESS.test(entry))) {
      reader.secretFault(name, 'e-mail addresses such as finance@example.com');
    }
  }
  if (address === null || from === null) return null;
  const url = new URL(address);
  return { url, isPlain: url.protocol === 'smtp:' && isPlainHost(url.hostname, allowed), from, to };
}

const MAIL_ADDRESS = /^[^\s@<>",;]+@[^\s@<>",;]+$/;

function readPublicUrl(reader: EnvironmentReader, allowed: PlaintextHosts): URL | null {
  const name = 'CONSOLE_PUBLIC_URL';
  const text = reader.text(name);
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (
    url === null ||
    !isPlain ||
    url.pathname !== '/' ||
    url.search !== '' ||
    url.username !== ''
  ) {
    reader.secretFault(name, 'an address such as https://conciliation.example.com, without a path');
    return null;
  }
  const fault = webAddressFault(text, allowed);
  if (fault !== null) reader.secretFault(name, fault);
  return fault === null ? url : null;
}
