import { readFileSync } from 'node:fs';
import { ConfigError } from '../runtime/errors.ts';
import { readSecretFile } from '../runtime/secrets.ts';
import { isPlainHost, type PlaintextHosts } from './address-faults.ts';
import { Refusal, SECTIONS, type Secret, type Variable } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Name extends string
    ? Lowercase<Name>
    : never;

type Section = (typeof SECTIONS)[keyof typeof SECTIONS];
type Values<Variables> = {
  readonly [Name in keyof Variables as CamelCase<Name>]: Variables[Name] extends Variable<
    infer Value
  >
    ? Value
    : never;
};
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  each: infer All,
) => void
  ? All
  : never;

/** The value of each variable by its name: that of `PULL_CRON` is `pullCron`. */
type Settings = Values<Intersection<Section>>;

/** The complete configuration from the environment, checked once. */
export interface Config extends Omit<Settings, 'allowPlaintext' | `oidc${string}`> {
  /** Null: a command with a platform of its own (`demo`) or without a platform (`status`). */
  readonly platformBaseUrl: URL | null;
  /** Null: passwords are the only way to sign in to the console. */
  readonly oidc: OidcConfig | null;
  /** Null: alerts are not sent by e-mail. */
  readonly email: ReturnType<typeof emailOf>;
}

export type OidcConfig = NonNullable<ReturnType<typeof oidcOf>>;

const VARIABLES: readonly (readonly [string, Variable<unknown>])[] = Object.values(
  SECTIONS,
).flatMap((section) => Object.entries<Variable<unknown>>(section));

const keyOf = (name: string) =>
  name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/**
 * @param needs the variables that the command requires; with `platform: false`, `PLATFORM_*` is not read
 * @throws ConfigError with every fault of every variable, so that a person can correct all of them at the same time
 */
export function readConfig(
  environment: Environment,
  needs: { readonly platform: boolean },
): Config {
  const problems: string[] = [];
  const given = (name: string) => {
    if (!needs.platform && name.startsWith('PLATFORM_')) return null;
    // An empty variable counts as unset, as in a line `VARIABLE=` of an env file.
    return environment[name]?.trim() || null;
  };
  const plaintextHosts = new Set(
    given('ALLOW_PLAINTEXT')
      ?.toLowerCase()
      .split(/\s*,\s*/),
  );
  const values = VARIABLES.map(([name, variable]) => [
    keyOf(name),
    readVariable(name, variable, { given, plaintextHosts, problems }),
  ]);
  const settings = Object.fromEntries(values) as Settings;
  problems.push(...conflicts(given, needs));
  const config: Config = {
    ...settings,
    oidc: oidcOf(settings),
    email: emailOf(settings, plaintextHosts),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/** The name and each name with one letter less. Two names that share one differ in a letter, or in the place of one. */
const spellingsOf = (name: string) => [
  name,
  ...Array.from(name, (_, at) => name.slice(0, at) + name.slice(at + 1)),
];

/** Names of the environment that are perhaps misspelt variables of the program, with what may be meant. */
export function misspeltVariables(environment: Environment): [name: string, meant: string][] {
  const known = VARIABLES.flatMap(([name, { file }]) => (file ? [name, `${name}_FILE`] : [name]));
  const meant = new Map(known.flatMap((name) => spellingsOf(name).map((text) => [text, name])));
  return Object.keys(environment).flatMap((name) => {
    const near = spellingsOf(name).flatMap((text) => meant.get(text) ?? [])[0];
    return near === undefined || known.includes(name) ? [] : [[name, near]];
  });
}

/** The settings that decide what is held, signed off and booked, as text, by the names of their variables. */
export function auditedSettings(config: Config): Readonly<Record<string, string>> {
  const values = new Map<string, unknown>(Object.entries(config));
  return Object.fromEntries(
    VARIABLES.filter(([, { isAudited }]) => isAudited).map(([name]) => [
      name,
      shown(values.get(keyOf(name))),
    ]),
  );
}

function shown(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'object') return String(value);
  if (value === null) return '–';
  return Object.entries(value)
    .map(([key, each]) => `${key}=${each}`)
    .join(',');
}

interface Reading {
  readonly given: (name: string) => string | null;
  readonly plaintextHosts: PlaintextHosts;
  readonly problems: string[];
}

function readVariable(name: string, variable: Variable<unknown>, reading: Reading): unknown {
  const { given, plaintextHosts, problems } = reading;
  let text = given(name) ?? variable.initial;
  const path = variable.file === undefined ? null : given(`${name}_FILE`);
  if (text !== null && path !== null) {
    problems.push(`${name}_FILE, ${name}: got both, expected at most one of them`);
  }
  if (variable.file === 'token') return { secret: text, secretFile: path } satisfies Secret;
  if (path !== null && text === null) {
    const read = readSecretFile(path);
    if ('fault' in read) problems.push(`${name}_FILE: ${read.fault}`);
    else text = read.secret;
  }
  if (text === null) return null;
  const value = variable.parse(text, plaintextHosts);
  if (!(value instanceof Refusal)) return value;
  const got = value.got === null ? '' : `got ${JSON.stringify(value.got.slice(0, 80))}, `;
  problems.push(`${name}: ${got}expected ${value.expected}`);
  return null;
}

/** The rules about more than one variable. */
function conflicts(
  given: (name: string) => string | null,
  needs: { readonly platform: boolean },
): string[] {
  const isSet = (name: string) => given(name) !== null || given(`${name}_FILE`) !== null;
  const channels = ['ALERT_WEBHOOK_URL', 'ALERT_SLACK_URL', 'ALERT_TEAMS_URL', 'ALERT_EMAIL_TO'];
  const email = ['SMTP_URL', 'ALERT_EMAIL_FROM', 'ALERT_EMAIL_TO'];
  const ofOidc = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ASSUME_EMAIL_VERIFIED'];
  const hasOidc = isSet('OIDC_ISSUER_URL');
  const missing: readonly [name: string, isNeeded: boolean, why: string][] = [
    ['PLATFORM_BASE_URL', needs.platform, "expected the platform's address, https://…"],
    ['PLATFORM_TOKEN', needs.platform, 'expected it or PLATFORM_TOKEN_FILE'],
    ['OIDC_CLIENT_ID', hasOidc, "expected the console's name at the provider"],
    ['CONSOLE_PUBLIC_URL', hasOidc, 'expected with OIDC_ISSUER_URL, which sends browsers there'],
    ['BOOKINGS_FROM', given('AUTO_SIGN_OFF') === 'clean', 'expected with AUTO_SIGN_OFF=clean'],
  ];
  const problems = missing
    .filter(([name, isNeeded]) => isNeeded && !isSet(name))
    .map(([name, , why]) => `${name}: not set, ${why}`);
  if (given('NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    problems.push(
      'NODE_TLS_REJECT_UNAUTHORIZED: got "0", expected it unset: certificates are always checked; name a CA of your own with NODE_EXTRA_CA_CERTS',
    );
  }
  if (!hasOidc && ofOidc.some(isSet)) {
    problems.push(`OIDC_ISSUER_URL: not set, and ${ofOidc.filter(isSet).join(', ')} is`);
  }
  if (email.some(isSet) && !email.every(isSet)) {
    problems.push(`${email.join(', ')}: expected all of them or none`);
  }
  if (given('DIGEST') === 'on' && !channels.some(isSet)) {
    problems.push(`DIGEST: on, and none of ${channels.join(', ')} is set`);
  }
  return problems;
}

function oidcOf(settings: Settings) {
  const { oidcIssuerUrl, oidcClientId, consolePublicUrl } = settings;
  if (oidcIssuerUrl === null || oidcClientId === null || consolePublicUrl === null) return null;
  return {
    /** The issuer of its discovery document; https, or http to this machine. */
    issuerUrl: oidcIssuerUrl,
    clientId: oidcClientId,
    /** Null: a public client. */
    clientSecret: settings.oidcClientSecret,
    /** The address to which the provider redirects browsers. */
    publicUrl: consolePublicUrl,
    /** Whether to accept an e-mail address that the provider calls neither verified nor unverified. */
    assumesVerifiedEmail: settings.oidcAssumeEmailVerified,
  };
}

function emailOf(
  { smtpUrl: url, alertEmailFrom: from, alertEmailTo: to }: Settings,
  plaintextHosts: PlaintextHosts,
) {
  if (url === null || from === null || to.length === 0) return null;
  // Without TLS, on this machine or to a host of ALLOW_PLAINTEXT.
  const isPlain = url.protocol === 'smtp:' && isPlainHost(url.hostname, plaintextHosts);
  return { url, isPlain, from, to };
}

/** The same relative path from src/base/config and from dist/base/config. */
const PACKAGE_FILE = new URL('../../../package.json', import.meta.url);

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as { version: string };
  return version;
}
