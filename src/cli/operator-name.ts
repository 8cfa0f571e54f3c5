import { userInfo } from 'node:os';

/** Who acts at a command line, for the audit log: the account of the operating system. */
export function operatorName(): string {
  return `command line: ${accountName()}`;
}

/** Containers often run under a number that no account has. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
