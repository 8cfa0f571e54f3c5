/** What `provider_batch.answer` keeps of a body. */
export const MAX_KEPT_BYTES = 64 * 1024;

/** The body as text that PostgreSQL can hold: what is not UTF-8, and U+0000, becomes U+FFFD. */
export function toAnswerText(body: Buffer): string {
  return toStorableText(body.subarray(0, MAX_KEPT_BYTES).toString('utf8'));
}

/** U+0000 and lone surrogates, which JSON can spell and PostgreSQL cannot hold, become U+FFFD. */
export function toStorableText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}
