const ADDRESS = /^[!#-?A-Z^-~]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?$/i;
const MAX_LENGTH = 254;

/**
 * An e-mail address as it is stored and compared, in lower case; null where the text cannot be one.
 * ASCII alone: other alphabets have letters that become one of ours when they are lowered.
 */
export function parseEmailAddress(text: string): string | null {
  const address = text.trim();
  return address.length <= MAX_LENGTH && ADDRESS.test(address) ? address.toLowerCase() : null;
}
