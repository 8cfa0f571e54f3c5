/** The stored length of `provider_batch.answer`. */
const MAX_KEPT_BYTES = 64 * 1024;

/** Returns the body as text for PostgreSQL: invalid UTF-8 and U+0000 become U+FFFD. */
export function toAnswerText(body: Buffer): string {
  return toStorableText(body.subarray(0, MAX_KEPT_BYTES).toString('utf8'));
}

/** Replaces U+0000 and lone surrogates, which JSON can express and PostgreSQL cannot hold, with U+FFFD. */
export function toStorableText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}
