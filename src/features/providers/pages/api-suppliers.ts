import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import { describe, limitOf, numberOf } from '../../../console/api/api-request.ts';
import {
  amount,
  count,
  date,
  instant,
  pageOfList,
  words,
} from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskBankAccount, maskTaxId } from '../../../console/shell/masking.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import {
  bankAccount,
  CHANGE_LISTS,
  type ChangeListName,
  countAccountChanges,
  DescribedChange,
  readAccountChanges,
} from '../../accounts/account-changes.sql.ts';
import { externalIdOf } from './provider-address.ts';
import {
  DescribedProvider,
  type ProviderDetail,
  readSeenAccounts,
  readSupplier,
} from './provider-detail.sql.ts';
import { maskProvider } from './providers-page.tsx';

const ExternalIdQuery = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 1000, description: 'The external id.' }),
});

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

const AccountChangesQuery = Type.Object({
  state: Type.Optional(words([...CHANGE_LISTS])),
  ...pageOfList,
});

const AccountChanges = Type.Object({
  total: count,
  changes: Type.Array(DescribedChange, {
    description: 'The oldest first where all are open, otherwise the newest first.',
  }),
});

const MAX_ACCOUNTS = 500;

/** The suppliers and the changes of bank accounts. Identifiers are masked; the pages reveal them. */
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
        querystring: ExternalIdQuery,
        answer: Provider,
      },
    ),
    async (request, reply) => {
      const externalId = externalIdOf(request.query);
      if (externalId === null) throw new InputError('id: expected the external id of a supplier');
      const supplier = await readSupplier(parts, externalId);
      if (supplier === null) return reply.callNotFound();
      const { provider, titleCount, accountCount, changeCount, partyKey } = supplier;
      const page = { offset: 0, limit: MAX_ACCOUNTS };
      const accounts = await readSeenAccounts(database, partyKey, page);
      return {
        externalId,
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

  api.get(
    '/account-changes',
    describe(
      forKeys(EVERYBODY, 'read'),
      'suppliers',
      'listAccountChanges',
      'Changes of bank accounts',
      {
        querystring: AccountChangesQuery,
        answer: AccountChanges,
      },
    ),
    async (request) => {
      const list = (textParameter(request.query, 'state') ?? 'open') as ChangeListName;
      const filter = { list, providerKey: null };
      const page = { offset: numberOf(request, 'offset') ?? 0, limit: limitOf(request) };
      const [total, changes] = await Promise.all([
        countAccountChanges(database, filter),
        readAccountChanges(database, filter, page),
      ]);
      const masked = changes.map(
        ({ isKeyTaxId, partyHeldTitles: _, partyHeldValue: __, ...change }) => ({
          ...change,
          partyKey: isKeyTaxId ? maskTaxId(change.partyKey) : change.partyKey,
          before: maskBankAccount(change.before),
          after: maskBankAccount(change.after),
        }),
      );
      return { total, changes: masked };
    },
  );
}

function withoutContacts(provider: ProviderDetail) {
  // The refusal of the platform may have personal data.
  const { phones: _, emailAddresses: __, accounts: ___, refusal: ____, ...rest } = provider;
  return rest;
}
