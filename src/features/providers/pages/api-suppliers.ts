import type { FastifyInstance } from 'fastify';
import { InputError } from '../../../base/runtime/errors.ts';
import { dateIn } from '../../../base/values/business-day.ts';
import { describe, limitOf, numberOf } from '../../../console/api/api-request.ts';
import * as schemas from '../../../console/api/api-schemas.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskBankAccount, maskTaxId } from '../../../console/shell/masking.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import {
  type ChangeListName,
  countAccountChanges,
  readAccountChanges,
} from '../../accounts/account-changes.sql.ts';
import { parseTitleQuery } from '../../titles/pages/title-filters.ts';
import { readTitleCount } from '../../titles/pages/title-list.sql.ts';
import { SYNC_STATES } from '../provider.ts';
import { accountPartyKey, externalIdOf } from './provider-address.ts';
import { countSeenAccounts, readProviderDetail, readSeenAccounts } from './provider-detail.sql.ts';
import { countProviders, type ProviderRow, readProviders } from './provider-list.sql.ts';

const MAX_ACCOUNTS = 500;

/** The suppliers and the changes of bank accounts. Identifiers are masked; the pages reveal them. */
export function addApiSuppliers(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  api.get(
    '/providers',
    describe(
      forKeys(EVERYBODY, 'read'),
      'suppliers',
      'listProviders',
      'Suppliers with their states and newest requests',
      {
        querystring: schemas.ProviderQuery,
        answer: schemas.Providers,
      },
    ),
    async (request) => {
      const state = textParameter(request.query, 'state');
      const filter = {
        text: textParameter(request.query, 'q') ?? null,
        taxId: null,
        state: SYNC_STATES.find((known) => known === state) ?? null,
      };
      const page = { offset: numberOf(request, 'offset') ?? 0, limit: limitOf(request) };
      const [total, providers] = await Promise.all([
        countProviders(database, filter),
        readProviders(database, filter, page),
      ]);
      return { total, providers: providers.map(maskProvider) };
    },
  );

  api.get(
    '/provider',
    describe(
      forKeys(EVERYBODY, 'read'),
      'suppliers',
      'getProvider',
      'One supplier with its titles and bank accounts',
      {
        querystring: schemas.ExternalIdQuery,
        answer: schemas.Provider,
      },
    ),
    async (request, reply) => {
      const externalId = externalIdOf(request.query);
      if (externalId === null) throw new InputError('id: expected the external id of a supplier');
      const partyKey = accountPartyKey(externalId);
      const { filter } = parseTitleQuery({}, null, 'en');
      const today = dateIn(parts.timeZone, parts.now?.() ?? new Date());
      const [found, count, accountCount, accounts, accountChanges] = await Promise.all([
        readProviderDetail(database, externalId),
        readTitleCount(database, { ...filter, providerId: externalId }, today),
        countSeenAccounts(database, partyKey),
        readSeenAccounts(database, partyKey, { offset: 0, limit: MAX_ACCOUNTS }),
        countAccountChanges(database, { list: 'all', providerKey: partyKey }),
      ]);
      if (found === null && count.titles + accountCount + accountChanges === 0) {
        return reply.callNotFound();
      }
      return {
        externalId,
        provider: found === null ? null : maskProvider(withoutContacts(found)),
        titles: count.titles,
        originalValue: count.originalValueSum,
        accounts: accounts.map(({ lastAcceptedDate, firstSeenAt, ...account }) => ({
          ...maskBankAccount(account),
          lastAcceptedDate,
          firstSeenAt,
        })),
        accountCount,
        accountChanges,
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
        querystring: schemas.AccountChangesQuery,
        answer: schemas.AccountChanges,
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

function maskProvider<T extends Pick<ProviderRow, 'identification'>>(provider: T): T {
  const { identification } = provider;
  return {
    ...provider,
    identification: identification === null ? null : maskTaxId(identification),
  };
}

function withoutContacts(provider: NonNullable<Awaited<ReturnType<typeof readProviderDetail>>>) {
  // The refusal of the platform may have personal data.
  const { phones: _, emailAddresses: __, accounts: ___, refusal: ____, ...rest } = provider;
  return rest;
}
