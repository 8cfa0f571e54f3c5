const ADDRESS = /^[!#-?A-Z^-~]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?$/i;
const MAX_LENGTH = 254;

/**
 * Returns an e-mail address in the stored form, in lower case; null for text that cannot be one.
 * ASCII only: letters of other alphabets may become ASCII letters in lower case.
 */
export function parseEmailAddress(text: string): string | null {
  const address = text.trim();
  return address.length <= MAX_LENGTH && ADDRESS.test(address) ? address.toLowerCase() : null;
}
