import { ConfigError } from '../runtime/errors.ts';
import type { CivilDate } from '../values/business-day.ts';
import type { CheckSeverities } from '../values/checks.ts';
import { type PlaintextHosts, webAddressFault } from './address-faults.ts';
import { type AlertConfig, readAlertChannels } from './alert-config.ts';
import { type BookingConfig, readBookings } from './booking-config.ts';
import { type Environment, EnvironmentReader } from './environment-reader.ts';
import { type OidcConfig, readOidc } from './oidc-config.ts';
import { type PlatformConfig, readPlatform } from './platform-config.ts';
import { readStores, type StoreConfig } from './store-config.ts';

/**
 * The complete configuration from the environment, checked once; docs/configuration.md describes
 * each variable.
 */
export interface Config extends StoreConfig, BookingConfig, AlertConfig {
  /**
   * Null for commands with their own platform (`demo`) and commands without a platform (`status`).
   */
  readonly platform: PlatformConfig | null;
  readonly timeZone: string;
  readonly startDate: CivilDate | null;
  readonly pullCron: string;
  /** Age in hours from which the ERP's payables count as stale. */
  readonly erpPayablesMaxAgeHours: number;
  readonly lookbackDays: number;
  readonly sweepCron: string;
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
  /** The meaning of the amounts that the interface does not document, as the buyer declares it. */
  readonly pullAttempts: number;
  readonly pullBackoffSeconds: number;
  readonly withdrawalLimitPercent: number;
  /** Whether a response that is not plausible is held. */
  readonly checksPlausibility: boolean;
  readonly checkSeverities: CheckSeverities;
  readonly logLevel: LogLevel;
}

export type { Environment } from './environment-reader.ts';

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
    ...readStores(reader, plaintextHosts),
    timeZone: reader.timeZone('TIMEZONE', 'America/Sao_Paulo'),
    startDate: reader.date('START_DATE'),
    pullCron: reader.cron('PULL_CRON', '0 6 * * *'),
    erpPayablesMaxAgeHours: reader.integer('ERP_PAYABLES_MAX_AGE_HOURS', 30, 1, 8_760),
    lookbackDays: reader.integer('LOOKBACK_DAYS', 7, 0, 365),
    sweepCron: reader.cron('SWEEP_CRON', '0 3 * * 0'),
    consoleHost: reader.text('CONSOLE_HOST') ?? '127.0.0.1',
    consolePort: reader.integer('CONSOLE_PORT', 8080, 0, 65_535),
    consolePublicUrl,
    trustedProxies: reader.addressBlocks('TRUSTED_PROXIES'),
    oidc: readOidc(reader, consolePublicUrl),
    requiresSecondFactor:
      reader.choice('CONSOLE_SECOND_FACTOR', 'optional', ['optional', 'required']) === 'required',
    signOffFourEyes: reader.choice('SIGN_OFF_FOUR_EYES', 'on', ['on', 'off']) === 'on',
    ...readBookings(reader, plaintextHosts),
    ...readAlertChannels(reader, plaintextHosts),
    pullAttempts: reader.integer('PULL_ATTEMPTS', 8, 1, 100),
    pullBackoffSeconds: reader.integer('PULL_BACKOFF_SECONDS', 30, 1, 3600),
    withdrawalLimitPercent: reader.integer('WITHDRAWAL_LIMIT_PERCENT', 20, 0, 100),
    checksPlausibility: reader.choice('PLAUSIBILITY', 'on', ['on', 'off']) === 'on',
    checkSeverities: reader.checkSeverities('CHECK_SEVERITIES'),
    logLevel: reader.choice('LOG_LEVEL', 'info', LOG_LEVELS),
  };
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return Object.freeze(config);
}

/** NODE_TLS_REJECT_UNAUTHORIZED=0 would make Node accept any certificate from any server. */
function refuseTrustInAnybody(reader: EnvironmentReader): void {
  const name = 'NODE_TLS_REJECT_UNAUTHORIZED';
  if (reader.text(name) !== '0') return;
  reader.problems.push(
    `${name}: got "0", expected it unset: certificates are always checked; name a CA of your own with NODE_EXTRA_CA_CERTS`,
  );
}

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
