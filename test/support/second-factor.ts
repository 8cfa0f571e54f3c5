import { Secret, TOTP } from 'otpauth';
import type { Database } from '../../src/base/database/database.ts';
import { hashPassword } from '../../src/console/access/password.ts';
import {
  hashRecoveryCode,
  newRecoveryCodes,
  newSecret,
} from '../../src/console/account/second-factor.ts';

export const PASSWORD = 'quatro palavras ao acaso';

/** The code that an app shows, now or `steps` of 30 seconds later. */
export function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: Date.now() + steps * 30_000,
  });
}

let passwordHash: Promise<string> | undefined;

/** Gives an existing user `PASSWORD`. */
export async function setPassword(database: Database, name: string): Promise<void> {
  passwordHash ??= hashPassword(PASSWORD);
  await database.prisma.consoleUser.update({
    where: { name },
    data: { passwordHash: await passwordHash },
  });
}

/** Gives an existing user a second factor, of which no code was used yet. */
export async function setFactor(
  database: Database,
  name: string,
): Promise<{ secret: string; recoveryCodes: string[] }> {
  const secret = newSecret();
  const recoveryCodes = newRecoveryCodes();
  await database.prisma.consoleUser.update({
    where: { name },
    data: {
      totpSecret: secret,
      totpStep: 0,
      recoveryHashes: recoveryCodes.map(hashRecoveryCode),
    },
  });
  return { secret, recoveryCodes };
}
