import type { EnvironmentReader } from './environment-reader.ts';
import { readSecureUrl } from './secret-variables.ts';

export interface OidcConfig {
  readonly issuerUrl: URL;
  readonly clientId: string;
  /** At most one of the two is set; neither for a public client. */
  readonly clientSecretFile: string | null;
  readonly clientSecret: string | null;
  /** The address to which the provider redirects browsers. */
  readonly publicUrl: URL;
  readonly assumesVerifiedEmail: boolean;
}

const OIDC_VARIABLES = [
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET_FILE',
  'OIDC_CLIENT_SECRET',
  'OIDC_ASSUME_EMAIL_VERIFIED',
] as const;

export function readOidc(reader: EnvironmentReader, publicUrl: URL | null): OidcConfig | null {
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
  const { secretFile: clientSecretFile, secret: clientSecret } =
    reader.secret('OIDC_CLIENT_SECRET');
  if (publicUrl === null && reader.text('CONSOLE_PUBLIC_URL') === null) {
    reader.problems.push(
      'CONSOLE_PUBLIC_URL: not set, expected with OIDC_ISSUER_URL, because the provider sends browsers back there',
    );
  }
  const assumesVerifiedEmail =
    reader.choice('OIDC_ASSUME_EMAIL_VERIFIED', 'off', ['on', 'off']) === 'on';
  if (issuerUrl === null || clientId === null || publicUrl === null) return null;
  return {
    issuerUrl,
    clientId,
    clientSecretFile,
    clientSecret,
    publicUrl,
    assumesVerifiedEmail,
  };
}
