import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { textParameter, textParameters } from '../../../console/shell/page-context.ts';
import { pagingOf } from '../../../console/shell/paging.tsx';
import { actorOf, requireReason } from '../../../console/shell/path-parameters.ts';
import { DECIDE, EVERYBODY, forPeople, STAFF } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import {
  ACCOUNT_DECISIONS,
  CHANGE_LISTS,
  type ChangeListName,
  countAccountChanges,
  decideAccountChanges,
  readAccountChanges,
} from '../../accounts/account-changes.sql.ts';
import { AccountChangesPage } from '../../accounts/pages/account-changes-page.tsx';
import { externalIdOf } from './provider-address.ts';
import { readSeenAccounts, readSupplier } from './provider-detail.sql.ts';
import { ProviderPage } from './provider-page.tsx';

const CHANGES_A_PAGE = 50;
const ACCOUNTS_A_PAGE = 20;
const CHANGES_OF_PROVIDER = 10;

/** Routes for the ERP's providers and the changes of bank accounts. */
export function addProviderRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  const showProvider = async (
    request: FastifyRequest,
    reply: FastifyReply,
    isRevealed: boolean,
  ) => {
    const externalId = externalIdOf(request.query);
    if (externalId === null) return reply.callNotFound();
    const supplier = await readSupplier(parts, externalId);
    if (supplier === null) return reply.callNotFound();
    const { partyKey, provider, titleCount, accountCount, changeCount } = supplier;
    const changeFilter = { list: 'all', providerKey: partyKey } as const;
    const accountPaging = pagingOf(request.query, 'accounts', accountCount, ACCOUNTS_A_PAGE);
    const changePaging = pagingOf(request.query, 'changes', changeCount, CHANGES_OF_PROVIDER);
    const [accounts, changes] = await Promise.all([
      readSeenAccounts(database, partyKey, accountPaging),
      readAccountChanges(database, changeFilter, changePaging),
    ]);
    const fingerprint = fingerprintOf(externalId);
    if (isRevealed) {
      // Before the page is shown, so that every access leaves an entry.
      await recordAudit(database.prisma, {
        actor: actorOf(request),
        action: 'provider.reveal',
        details: { provider: fingerprint },
      });
    }
    const data = {
      externalId,
      fingerprint,
      provider,
      accounts,
      accountPaging,
      changes,
      changePaging,
      titleCount,
      isRevealed,
    };
    return sendPage(request, reply, parts, () => ({
      title: provider?.name ?? externalId,
      active: '/providers',
      body: <ProviderPage data={data} />,
    }));
  };
  server.get('/provider', forPeople(EVERYBODY), (request, reply) =>
    showProvider(request, reply, false),
  );
  server.post('/provider', forPeople(STAFF), (request, reply) =>
    showProvider(request, reply, true),
  );

  const showChanges = async (request: FastifyRequest, reply: FastifyReply, isRevealed: boolean) => {
    const wanted = textParameter(request.query, 'state');
    const state = CHANGE_LISTS.find((known) => known === wanted) ?? 'open';
    const countOf = (list: ChangeListName) =>
      countAccountChanges(database, { list, providerKey: null });
    const [open, refused, decided] = await Promise.all([
      countOf('open'),
      countOf('refused'),
      countOf('decided'),
    ]);
    const counts = { open, refused, decided, all: open + refused + decided };
    const paging = pagingOf(request.query, 'page', counts[state], CHANGES_A_PAGE);
    const changes = await readAccountChanges(database, { list: state, providerKey: null }, paging);
    if (isRevealed) {
      await recordAudit(database.prisma, {
        actor: actorOf(request),
        action: 'account_change.reveal',
        details: { accountChangeIds: changes.map(({ id }) => id) },
      });
    }
    const data = { state, counts, changes, paging, isRevealed };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('providers.changes'),
      active: '/account-changes',
      body: <AccountChangesPage data={data} />,
    }));
  };
  server.get('/account-changes', forPeople(EVERYBODY), (request, reply) =>
    showChanges(request, reply, false),
  );
  server.post('/account-changes', forPeople(STAFF), (request, reply) =>
    showChanges(request, reply, true),
  );

  server.post('/account-changes/decide', forPeople(DECIDE), async (request, reply) => {
    const wanted = textParameter(request.body, 'decision');
    const state = ACCOUNT_DECISIONS.find((known) => known === wanted);
    if (state === undefined) {
      throw new InputError(`decision: expected one of ${ACCOUNT_DECISIONS.join(', ')}`, {
        context: { fault: 'account_decision' },
      });
    }
    const ids = textParameters(request.body, 'changes')
      .flatMap((text) => text.split(' '))
      .filter((text) => /^\d{1,18}$/.test(text));
    const reason = requireReason(request.body);
    await decideAccountChanges(database, ids.map(BigInt), {
      by: actorOf(request),
      state,
      reason,
    });
    return reply.redirect(`/account-changes?notice=account_${state}`, 303);
  });
}

/** Names a provider in the audit log, which is never erased and holds no key of a person. */
function fingerprintOf(externalId: string): string {
  return createHash('sha256').update(externalId).digest('hex').slice(0, 16);
}
