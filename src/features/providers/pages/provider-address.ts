import { Type } from 'typebox';
import { asWritten } from '../../../console/declare.tsx';

/** An external id as it is stored. PostgreSQL holds neither U+0000 nor lone surrogates. */
export const externalId = asWritten(
  Type.String({
    ...{ minLength: 1, maxLength: 1000, pattern: '^[^\\0\\p{Surrogate}]+$' },
    description: 'The external id.',
  }),
);

/** The address of a provider's page. A parameter, because an external id may hold any character. */
export function providerHref(externalId: string): string {
  return `/provider?${new URLSearchParams({ id: externalId })}`;
}

/** The key of a provider in the watch on bank accounts. */
export function accountPartyKey(externalId: string): string {
  return externalId.replace(/^ +| +$/g, '');
}
