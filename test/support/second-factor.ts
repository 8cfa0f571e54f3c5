import { Secret, TOTP } from 'otpauth';
import type { Database } from '../../src/base/database/database.ts';
import { newSecret } from '../../src/console/account/second-factor.ts';

export const PASSWORD = 'quatro palavras ao acaso';

/** The code that an app shows, now or `steps` of 30 seconds later. */
export function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: Date.now() + steps * 30_000,
  });
}

/** Of `PASSWORD`, at the least cost: a test of the rules of sign-ins need not pay for the strength of passwords. */
const PASSWORD_HASH =
  '$scrypt$ln=1,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$3tzjEK/CT+TkysmIwPM94srYEDRnc7O1c/ZPUYyBZxo';

/** Gives an existing user `PASSWORD`. */
export async function setPassword(database: Database, name: string): Promise<void> {
  await database.prisma.consoleUser.update({
    where: { name },
    data: { passwordHash: PASSWORD_HASH },
  });
}

/** Gives an existing user a second factor, of which no code was used yet, and returns its secret. */
export async function setFactor(database: Database, name: string): Promise<string> {
  const secret = newSecret();
  await database.prisma.consoleUser.update({
    where: { name },
    data: { totpSecret: secret, totpStep: 0 },
  });
  return secret;
}
