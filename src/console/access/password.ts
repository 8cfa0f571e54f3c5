import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { refusal } from '../../base/texts/texts.ts';

/** OWASP's minimum for scrypt with three lanes (Password Storage Cheat Sheet): 32 MiB. */
const COST = { logN: 15, r: 8, p: 3 };
const KEY_LENGTH = 32;
const MAX_MEMORY = 64 * 1024 * 1024;

export const MIN_PASSWORD_LENGTH = 12;
/** In characters. */
const MAX_PASSWORD_LENGTH = 256;

/** Words that an attacker of this console tries first. */
const WORDS_OF_PRODUCT = ['conciliation', 'conciliacao', 'conciliação', 'reconciliation', 'erp'];

/**
 * Returns a hash by scrypt (RFC 7914) in PHC format. The format includes the cost, so that it can
 * be raised later.
 */
export async function hashPassword(password: string): Promise<string> {
  const { logN, r, p } = COST;
  const salt = randomBytes(16);
  const key = await deriveKey(password, salt, COST);
  return `$scrypt$ln=${logN},r=${r},p=${p}$${encode(salt)}$${encode(key)}`;
}

/** The hash for users who do not exist. No password matches it. */
const ABSENT = `$scrypt$ln=${COST.logN},r=${COST.r},p=${COST.p}$${encode(randomBytes(16))}$${encode(randomBytes(KEY_LENGTH))}`;

/**
 * Takes the same time for existing and for unknown users, so that the time reveals nothing.
 * @param hash null: the user does not exist or has no password
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  if (password === '' || password.length > MAX_PASSWORD_LENGTH) return false;
  const parts = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(hash ?? ABSENT);
  if (parts === null) throw new Error('the stored hash of a password is of an unknown format');
  const [, logN, r, p, salt = '', key = ''] = parts;
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  const derived = await deriveKey(password, Buffer.from(salt, 'base64'), cost);
  return timingSafeEqual(derived, Buffer.from(key, 'base64')) && hash !== null;
}

let commonPasswords: ReadonlySet<string> | undefined;

/**
 * Whether a password is too easy to guess: one of the common passwords, or nothing but the name or the e-mail address
 * of the user or the name of the program, with digits and signs.
 */
function isGuessable(
  password: string,
  owner: { readonly name: string; readonly email: string | null },
): boolean {
  commonPasswords ??= new Set(
    readFileSync(new URL('../../../assets/common-passwords.txt', import.meta.url), 'utf8').split(
      '\n',
    ),
  );
  const text = normalize(password).toLowerCase();
  if (commonPasswords.has(text)) return true;
  const parts = `${owner.name} ${owner.email ?? ''}`.toLowerCase().split(/[^\p{L}]+/u);
  const words = [...parts, ...WORDS_OF_PRODUCT]
    .filter(({ length }) => length > 2)
    .sort((one, other) => other.length - one.length);
  const rest = words.reduce((left, word) => left.replaceAll(word, ''), text);
  return rest !== text && !/\p{L}/u.test(rest);
}

function normalize(password: string): string {
  return password.normalize('NFKC');
}

/** Base64 without padding, as in the PHC format. */
function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

const runScrypt = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Settles when no password is hashed any more. */
let last: Promise<unknown> = Promise.resolve();

/** One at a time: each takes 32 MiB and a quarter of a second of one processor. */
async function deriveKey(
  password: string,
  salt: Buffer,
  { logN, r, p }: typeof COST,
): Promise<Buffer> {
  const options = { N: 2 ** logN, r, p, maxmem: MAX_MEMORY };
  const key = last.then(() => runScrypt(normalize(password), salt, KEY_LENGTH, options));
  last = key.catch(() => {});
  return key;
}

/**
 * Returns the new password of a form, which has it twice.
 * @throws InputError for a password that the console refuses
 */
export function requireNewPassword(
  { password = '', again = '' }: { readonly [Field in 'password' | 'again']?: string | undefined },
  owner: { readonly name: string; readonly email: string | null },
): string {
  if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
    throw refusal('password_short', { min: MIN_PASSWORD_LENGTH });
  }
  if (password !== again) throw refusal('password_unequal');
  if (isGuessable(password, owner)) throw refusal('password_guessable');
  return password;
}
