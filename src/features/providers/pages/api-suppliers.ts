import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { describe } from '../../../console/api/api-request.ts';
import { amount, count, date, instant } from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskBankAccount } from '../../../console/shell/masking.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { bankAccount } from '../../accounts/account-changes.sql.ts';
import { externalId } from './provider-address.ts';
import {
  DescribedProvider,
  type ProviderDetail,
  readSeenAccounts,
  readSupplier,
} from './provider-detail.sql.ts';
import { maskProvider } from './providers-page.tsx';

const Provider = Type.Object({
  externalId: Type.String(),
  provider: Type.Union([DescribedProvider, Type.Null()], {
    description: 'Null: titles name the provider, and the ERP has not written it.',
  }),
  titles: count,
  originalValue: amount,
  accounts: Type.Array(
    Type.Object({ ...bankAccount, lastAcceptedDate: date, firstSeenAt: instant }),
    { description: 'Accounts that titles name, at most 500, the last seen first.' },
  ),
  accountCount: count,
  accountChanges: count,
});

const MAX_ACCOUNTS = 500;

/** A supplier. Identifiers are masked; the page reveals them. */
export function addSuppliersApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  api.get(
    '/provider',
    describe(
      forKeys(EVERYBODY, 'read'),
      'suppliers',
      'getProvider',
      'One supplier with its titles and bank accounts',
      {
        querystring: Type.Object({ id: externalId }),
        answer: Provider,
      },
    ),
    async (request, reply) => {
      const { id } = request.query as { id: string };
      const supplier = await readSupplier(parts, id);
      if (supplier === null) return reply.callNotFound();
      const { provider, titleCount, accountCount, changeCount, partyKey } = supplier;
      const page = { offset: 0, limit: MAX_ACCOUNTS };
      const accounts = await readSeenAccounts(database, partyKey, page);
      return {
        externalId: id,
        provider: provider === null ? null : maskProvider(withoutContacts(provider)),
        titles: titleCount.titles,
        originalValue: titleCount.originalValueSum,
        accounts: accounts.map(({ lastAcceptedDate, firstSeenAt, ...account }) => ({
          ...maskBankAccount(account),
          lastAcceptedDate,
          firstSeenAt,
        })),
        accountCount,
        accountChanges: changeCount,
      };
    },
  );
}

function withoutContacts(provider: ProviderDetail) {
  // The refusal of the platform may have personal data.
  const { phones: _, emailAddresses: __, accounts: ___, refusal: ____, ...rest } = provider;
  return rest;
}
