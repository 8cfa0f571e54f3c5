import { scryptSync } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Database } from '../../src/base/database/database.ts';
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

/** At the least cost, which a hash states: a test of the rules of sign-ins need not pay for the strength of passwords. */
function hashCheaply(password: string): string {
  const salt = Buffer.alloc(16, 'salt');
  const key = scryptSync(password, salt, 32, { N: 2, r: 8, p: 1 });
  const [saltText, keyText] = [salt, key].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  return `$scrypt$ln=1,r=8,p=1$${saltText}$${keyText}`;
}

const PASSWORD_HASH = hashCheaply(PASSWORD);

/** Gives an existing user `PASSWORD`. */
export async function setPassword(database: Database, name: string): Promise<void> {
  await database.prisma.consoleUser.update({
    where: { name },
    data: { passwordHash: PASSWORD_HASH },
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
