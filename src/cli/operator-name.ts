import { userInfo } from 'node:os';

/** Returns the account of the operating system, as the actor for the audit log. */
export function operatorName(): string {
  return `command line: ${accountName()}`;
}

/** Containers often run under a user id without an account. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
