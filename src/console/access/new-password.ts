import type { PageContext } from '../shell/page-context.ts';
import { isGuessable, MIN_PASSWORD_LENGTH } from './password.ts';

/**
 * Returns the sentence about a new password that the console refuses; null: it may be set.
 * @param again the same password, typed a second time
 */
export function newPasswordFault(
  password: string,
  again: string | null,
  owner: { readonly name: string; readonly email: string | null },
): ((context: PageContext) => string) | null {
  if (password.length < MIN_PASSWORD_LENGTH) {
    return ({ text, formats }) =>
      text('link.tooShort', { min: formats.count(MIN_PASSWORD_LENGTH) });
  }
  if (password !== again) return ({ text }) => text('link.unequal');
  return isGuessable(password, owner) ? ({ text }) => text('link.guessable') : null;
}
