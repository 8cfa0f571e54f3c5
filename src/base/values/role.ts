/** The roles of console users; docs/console.md has the table of rights. */
export const CONSOLE_ROLES = ['viewer', 'reviewer', 'operator', 'admin'] as const;
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/** An API key never has the role that manages users. */
export const KEY_ROLES = ['viewer', 'reviewer', 'operator'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

/** Whether a user's role includes all rights of a key's role. */
export function coversKey(owner: ConsoleRole, key: KeyRole): boolean {
  return owner === 'admin' || key === 'viewer' || key === owner;
}

/** The purposes of a key. They restrict the rights of its role. */
export const KEY_SCOPES = ['read', 'export', 'pull', 'payables'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Lifetime of a key in days. */
export const KEY_DAYS = { default: 90, max: 366 } as const;

/** Lifetime of a link to set a password, in hours. */
export const PASSWORD_LINK_HOURS = 48;

/** Whether the role may see tax identifiers, bank accounts and raw text. Each access is audited. */
export function maySeePersonalData(role: ConsoleRole): boolean {
  return role !== 'viewer';
}

const NAME = /^[a-z0-9][a-z0-9._@+-]{0,63}$/;

/** The authors of automatic actions, as stored. A user of such a name could be mistaken for the program. */
export const PROGRAM_AUTHORS: readonly string[] = [
  'account-watch',
  'auto-sign-off',
  'matching',
  'scheduler',
  'service',
  'verification',
];

/** Returns a user name in the stored form; null for text that cannot be one. */
export function parseUserName(text: string): string | null {
  const name = text.trim().toLowerCase();
  return NAME.test(name) ? name : null;
}

const ADDRESS = /^[!#-?A-Z^-~]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?$/i;
const MAX_ADDRESS_LENGTH = 254;

/**
 * Returns an e-mail address in the stored form, in lower case; null for text that cannot be one.
 * ASCII only: letters of other alphabets may become ASCII letters in lower case.
 */
export function parseEmailAddress(text: string): string | null {
  const address = text.trim();
  return address.length <= MAX_ADDRESS_LENGTH && ADDRESS.test(address)
    ? address.toLowerCase()
    : null;
}
