import { isIP } from 'node:net';
import { type CivilDate, parseCivilDate } from '../values/business-day.ts';
import {
  CHECK_CODES,
  CHECK_SEVERITIES,
  type CheckSeverities,
  DEFAULT_SEVERITIES,
  parseCheckSeverities,
} from '../values/checks.ts';
import { cronFault } from './cron-schedule.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Compose and Kubernetes permit underscores in the names of services. */
const HOST_NAME = /^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/;

/** Reads variables and collects all faults, so that a person can correct all of them at the same time. */
export class EnvironmentReader {
  readonly problems: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** An empty variable counts as unset, as in a line `VARIABLE=` of an env file. */
  text(name: string): string | null {
    const value = this.#environment[name]?.trim();
    return value === undefined || value === '' ? null : value;
  }

  /** A secret, or the path of the file `<name>_FILE` that holds it: at most one of the two is set. */
  secret(name: string): { readonly secret: string | null; readonly secretFile: string | null } {
    const [secret, secretFile] = [this.text(name), this.text(`${name}_FILE`)];
    if (secret !== null && secretFile !== null) {
      this.problems.push(`${name}_FILE, ${name}: got both, expected at most one of them`);
    }
    return { secret, secretFile };
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const text = this.text(name);
    if (text === null) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    this.#fault(name, text, `a whole number from ${min} to ${max}`);
    return fallback;
  }

  choice<T extends string>(name: string, fallback: T, choices: readonly T[]): T {
    const text = this.text(name);
    if (text === null) return fallback;
    const chosen = choices.find((choice) => choice === text);
    if (chosen !== undefined) return chosen;
    this.#fault(name, text, `one of ${choices.join(', ')}`);
    return fallback;
  }

  date(name: string): CivilDate | null {
    const text = this.text(name);
    if (text === null) return null;
    const date = parseCivilDate(text);
    if (date === null) this.#fault(name, text, 'a calendar date as YYYY-MM-DD');
    return date;
  }

  timeZone(name: string, fallback: string): string {
    const text = this.text(name) ?? fallback;
    try {
      new Intl.DateTimeFormat('en-US', { timeZone: text });
      return text;
    } catch {
      this.#fault(name, text, 'an IANA time zone such as America/Sao_Paulo');
      return fallback;
    }
  }

  checkSeverities(name: string): CheckSeverities {
    const text = this.text(name);
    if (text === null) return DEFAULT_SEVERITIES;
    const severities = parseCheckSeverities(text);
    if (severities !== null) return severities;
    const checks = CHECK_CODES.join(', ');
    const expected = `<check>=${CHECK_SEVERITIES.join('|')} for some of ${checks}, each once`;
    this.#fault(name, text, `${expected}, separated by commas`);
    return DEFAULT_SEVERITIES;
  }

  cron(name: string, fallback: string): string {
    const text = this.text(name) ?? fallback;
    const fault = cronFault(text);
    if (fault === null) return text;
    this.#fault(name, text, fault);
    return fallback;
  }

  /** IP addresses and blocks of addresses (CIDR); default: none. */
  addressBlocks(name: string): string[] {
    const entries = this.text(name)?.split(',') ?? [];
    return entries.map((entry) => {
      const text = entry.trim();
      if (!isAddressBlock(text)) {
        this.#fault(name, text, 'IP addresses or blocks such as 10.0.0.0/8, parted by commas');
      }
      return text;
    });
  }

  /** Host names and IP addresses, in small letters; none unless set. */
  hosts(name: string): string[] {
    const entries = this.text(name)?.toLowerCase().split(',') ?? [];
    return entries.map((entry) => {
      const text = entry.trim();
      if (!HOST_NAME.test(text) && isIP(text) === 0) {
        this.#fault(name, text, 'host names without ports and wildcards, separated by commas');
      }
      return text;
    });
  }

  /** The value is or may hold a secret, so the fault does not quote it. */
  secretFault(name: string, expected: string): void {
    this.problems.push(`${name}: expected ${expected}`);
  }

  #fault(name: string, got: string, expected: string): void {
    this.problems.push(`${name}: got ${JSON.stringify(got.slice(0, 80))}, expected ${expected}`);
  }
}

/** A block of all addresses is refused, because every client could then choose its address. */
function isAddressBlock(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  const longest = version === 4 ? 32 : 128;
  return length === undefined || (/^[1-9]\d{0,2}$/.test(length) && Number(length) <= longest);
}
