/** What a person may do in the console; docs/console.md has the table. */
export const CONSOLE_ROLES = ['viewer', 'reviewer', 'operator', 'admin'] as const;
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/** A key for scripts never has the role that may make users. */
export const KEY_ROLES = ['viewer', 'reviewer', 'operator'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

/** Whether a person of a role may do all that a key of another role may. */
export function coversKey(owner: ConsoleRole, key: KeyRole): boolean {
  return owner === 'admin' || key === 'viewer' || key === owner;
}

/** Of what a key's role may do, what the key is for. */
export const KEY_SCOPES = ['read', 'export', 'decide', 'pull'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** How long a key works: unless told, and at most. */
export const KEY_DAYS = { default: 90, max: 366 } as const;

/** How long the link works with which somebody chooses a password. */
export const PASSWORD_LINK_HOURS = 48;

/** Whether the role may see tax identifiers, bank accounts and raw text; each look is audited. */
export function maySeePersonalData(role: ConsoleRole): boolean {
  return role !== 'viewer';
}

const NAME = /^[a-z0-9][a-z0-9._@+-]{0,63}$/;

/** A name to sign in with, as it is stored; null where the text cannot be one. */
export function parseUserName(text: string): string | null {
  const name = text.trim().toLowerCase();
  return NAME.test(name) ? name : null;
}
