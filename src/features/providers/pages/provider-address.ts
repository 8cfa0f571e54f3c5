/** The address of a provider's page. A parameter, because an external id may hold any character. */
export function providerHref(externalId: string, more: Record<string, string> = {}): string {
  return `/provider?${new URLSearchParams({ id: externalId, ...more })}`;
}

/** Returns the external id of such an address, as it is stored; null: there is none. */
export function externalIdOf(query: unknown): string | null {
  if (typeof query !== 'object' || query === null) return null;
  const id: unknown = Reflect.get(query, 'id');
  if (typeof id !== 'string' || id === '' || id.length > 1000) return null;
  // PostgreSQL holds neither U+0000 nor lone surrogates.
  return /[\0\p{Surrogate}]/u.test(id) ? null : id;
}

/** The key of a provider in the watch on bank accounts. */
export function accountPartyKey(externalId: string): string {
  return externalId.replace(/^ +| +$/g, '');
}
