/** Variables that are secrets or name a file with a secret. A fault describes the problem and never quotes the value. */
import { readSecretFile } from '../runtime/secret-file.ts';
import { type PlaintextHosts, secureAddressFault, webAddressFault } from './address-faults.ts';
import type { EnvironmentReader } from './environment-reader.ts';

/**
 * Returns the address with the password of the file that `<service>_PASSWORD_FILE` names.
 *
 * @param address null: not set, or invalid
 */
export function withPassword(
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

export function readSecureUrl(
  reader: EnvironmentReader,
  name: string,
  text: string,
  whyHttps: string,
): URL | null {
  const fault = secureAddressFault(text, whyHttps);
  if (fault !== null) reader.secretFault(name, fault);
  return fault === null ? new URL(text) : null;
}

/** The address, or the content of the file that `<name>_FILE` names. */
export function readWebhookUrl(
  reader: EnvironmentReader,
  name: string,
  allowed: PlaintextHosts,
): URL | null {
  const { secret, secretFile } = reader.secret(name);
  let text = secret;
  if (secretFile !== null && secret === null) {
    const read = readSecretFile(secretFile);
    if ('fault' in read) reader.problems.push(`${name}_FILE: ${read.fault}`);
    else text = read.secret;
  }
  if (text === null) return null;
  const fault = webAddressFault(text, allowed);
  if (fault !== null) reader.secretFault(name, fault);
  return fault === null ? new URL(text) : null;
}
