import { type Static, Type } from 'typebox';
import { type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { refusal } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { AlertEntry } from '../../console/alert-entry.ts';
import {
  amount,
  bankAccount,
  date,
  id,
  instant,
  instantOrNull,
  orNull,
  words,
} from '../../console/api/schema-parts.ts';
import { asHidden, asTabs, choice, type FilterOf, textField } from '../../console/list/filter.tsx';
import type { ListTotal, Place } from '../../console/list/list.tsx';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  announceDecision,
  holdAgain,
  LASTING_HOLDS,
  OPEN_HOLDS,
  readLineOut,
} from './payment-holds.sql.ts';

/**
 * open: no decision. refused: the account stays blocked. confirmed: the account replaces the one before. parallel:
 * the party uses both. returned: the accepted account was named again, and no current title names the other one.
 */
const CHANGE_STATES = ['open', 'refused', 'confirmed', 'parallel', 'returned'] as const;
type ChangeState = (typeof CHANGE_STATES)[number];

export const ACCOUNT_DECISIONS = ['confirmed', 'parallel', 'refused'] as const;
export type AccountDecision = (typeof ACCOUNT_DECISIONS)[number];

/** The lists of changes. decided: the account is not blocked. */
export const CHANGE_LISTS = ['open', 'refused', 'decided', 'all'] as const;
export type ChangeListName = (typeof CHANGE_LISTS)[number];

/** A change from the accepted bank account of a party to another one. Personal data, except for ids, kind and dates. */
export const AccountChange = Type.Object({
  id,
  kind: words(['provider', 'financial_agent']),
  partyKey: Type.String({
    description:
      'Masked where the key is a tax identifier. Empty: the titles state neither an identifier nor a name.',
  }),
  partyName: orNull('string', {
    description: 'Of the agent in the title, or of the provider in the ERP. Null: not known.',
  }),
  before: bankAccount,
  after: bankAccount,
  acceptedDate: date,
  titleId: Type.Integer(),
  orderUid: orNull('string'),
  pullId: Type.Integer(),
  detectedAt: instant,
  state: words(CHANGE_STATES),
  decidedAt: instantOrNull,
  decidedBy: orNull('string'),
  reason: orNull('string', { description: 'The findings of the person who decided.' }),
  heldTitles: Type.Integer({ minimum: 0, description: 'Titles whose payment the change holds.' }),
  heldValue: amount,
  isKeyTaxId: Type.Boolean({ description: 'The key is a tax identifier, not that of a provider.' }),
});
export type AccountChange = Readonly<Static<typeof AccountChange>>;

const LISTS = {
  open: 'providers.changeLists.open',
  refused: 'providers.changeLists.refused',
  decided: 'providers.changeLists.decided',
  all: 'providers.changeLists.all',
} as const;

export const CHANGE_FILTER = {
  state: asTabs(choice('providers.changeState', CHANGE_LISTS, 'open', (list) => LISTS[list])),
  /** The external id of a provider. */
  providerKey: asHidden(textField('providers.party', 1000)),
};
type AccountChangeFilter = FilterOf<typeof CHANGE_FILTER>;

/** Returns the selected changes: the oldest first where all are open, otherwise the newest first. */
export function readAccountChanges(
  tx: Transaction,
  filter: AccountChangeFilter,
  { offset, limit }: Place,
): Promise<AccountChange[]> {
  const order = filter.state === 'open' ? Prisma.sql`ASC` : Prisma.sql`DESC`;
  return tx.$queryRaw<AccountChange[]>`
    SELECT change.id::float8 AS id, kind, party_key AS "partyKey",
           kind = 'financial_agent'
             OR nullif(btrim(title.provider_external_id), '') IS NULL AS "isKeyTaxId",
           CASE kind WHEN 'financial_agent' THEN title.financial_agent_name
                     ELSE provider.name END AS "partyName",
           before, after, change.accepted_date::text AS "acceptedDate",
           title_id::float8 AS "titleId", title.order_uid AS "orderUid",
           pull_id::float8 AS "pullId", detected_at AS "detectedAt",
           state, decided_at AS "decidedAt", decided_by AS "decidedBy", reason,
           held.titles::float8 AS "heldTitles", held.value::text AS "heldValue"
    FROM (SELECT * FROM conciliation.account_change
          WHERE ${isListed(filter.state)} AND ${isOf(filter)}
          ORDER BY id ${order} OFFSET ${offset} LIMIT ${limit}) AS change
    LEFT JOIN conciliation.title title ON title.id = change.title_id
    LEFT JOIN conciliation.provider provider
      ON change.kind = 'provider' AND provider.external_id = change.party_key
    CROSS JOIN LATERAL (
      SELECT count(*) AS titles, coalesce(sum(hold.original_value), 0) AS value
      FROM (${LASTING_HOLDS}) AS hold
      WHERE hold.account_change_id = change.id AND change.state IN ('open', 'refused')
    ) AS held
    ORDER BY change.id ${order}`;
}

/** A title that two changes hold is in the sums once. */
export async function countAccountChanges(
  tx: Transaction,
  filter: AccountChangeFilter,
): Promise<ListTotal> {
  const [{ titles, value, ...counts }] = await tx.$queryRaw<
    [Record<ChangeListName | 'titles', number> & { readonly value: string }]
  >`
    SELECT counted.*, held.*
    FROM (
      SELECT count(*) FILTER (WHERE ${isListed('open')})::float8 AS open,
             count(*) FILTER (WHERE ${isListed('refused')})::float8 AS refused,
             count(*) FILTER (WHERE ${isListed('decided')})::float8 AS decided, count(*)::float8 AS all
      FROM conciliation.account_change WHERE ${isOf(filter)}
    ) AS counted CROSS JOIN (
      SELECT count(*)::float8 AS titles, coalesce(sum(original_value), 0)::text AS value
      FROM (SELECT DISTINCT title_id, original_value FROM (${OPEN_HOLDS}) AS hold
            WHERE account_change_id IN (SELECT id FROM conciliation.account_change
                                        WHERE ${isListed(filter.state)} AND ${isOf(filter)})) AS title
    ) AS held`;
  return { rows: counts[filter.state], counts, sums: { held_titles: titles, held_value: value } };
}

const STATES_OF_LIST: Readonly<Record<ChangeListName, readonly ChangeState[]>> = {
  open: ['open'],
  refused: ['refused'],
  decided: ['confirmed', 'parallel', 'returned'],
  all: CHANGE_STATES,
};

const isListed = (list: ChangeListName) => Prisma.sql`state = ANY(${STATES_OF_LIST[list]}::text[])`;

const isOf = ({ providerKey }: AccountChangeFilter) =>
  providerKey === null
    ? Prisma.sql`true`
    : Prisma.sql`kind = 'provider' AND party_key = ${providerKey}`;

/** The greatest number of changes that one decision is about. */
const MAX_CHANGES_TO_DECIDE = 500;

/** The decisions that a person can make about a change of each list, unless it has returned. */
export const DECISIONS_OF_LIST: Readonly<Record<ChangeListName, readonly AccountDecision[]>> = {
  open: ACCOUNT_DECISIONS,
  refused: ['confirmed', 'parallel'],
  decided: ['refused'],
  all: [],
};

/** A refusal reads the titles of all dates that were pulled since a confirmation. */
const DECISION_TRANSACTION = { timeout: 60_000 };

/**
 * Records the decision of a person about changes, all of them or none. A confirmation releases the payments that the
 * changes held, which is a change of each title in `title_feed`. After a refusal they stay on hold, and a person can
 * still confirm the account. The refusal of a confirmed account holds all titles again that name it, unless the line of
 * one of them is released and not reversed. The audit log has an entry for each date that has such titles: its author is not the
 * second person for these dates.
 * @param decision `list` had the changes when the person read them
 * @throws InputError for no change, more than `MAX_CHANGES_TO_DECIDE`, a change that the list has not, a decision that
 *   it does not permit, a confirmation of two accounts of one party, or a refusal after a line was released
 */
export function decideAccountChanges(
  database: Database,
  ids: readonly bigint[],
  decision: Decision & { readonly state: AccountDecision; readonly list: ChangeListName },
): Promise<void> {
  const { by, reason, state, list } = decision;
  const wanted = [...new Set(ids)];
  if (wanted.length === 0 || wanted.length > MAX_CHANGES_TO_DECIDE) {
    throw refusal('account_changes', { limit: MAX_CHANGES_TO_DECIDE });
  }
  return database.prisma.$transaction(async (tx) => {
    // No line is released until the commit.
    await tx.$executeRaw`SELECT FROM conciliation.booking_start FOR UPDATE`;
    // As a merge does before it holds payments.
    await takeLock(tx, 'closing');
    const decided = await tx.$queryRaw<
      { id: bigint; party: string; account: string; isUndone: boolean }[]
    >`
      UPDATE conciliation.account_change AS change
      SET state = ${state}, decided_at = clock_timestamp(), decided_by = ${by}, reason = ${reason}
      FROM (SELECT id, state FROM conciliation.account_change WHERE id = ANY(${wanted}::bigint[]) FOR UPDATE) AS former
      WHERE change.id = former.id AND former.state = ANY(${STATES_OF_LIST[list]}::text[])
        AND former.state <> 'returned' AND ${DECISIONS_OF_LIST[list].includes(state)}::boolean
      RETURNING change.id, kind || ' ' || party_key AS party,
                account_hash::text AS account, former.state NOT IN ('open', 'refused') AS "isUndone"`;
    if (decided.length < wanted.length) throw refusal('account_change');
    const accounts = new Map(decided.map(({ party, account }) => [party, account]));
    if (
      state === 'confirmed' &&
      decided.some(({ party, account }) => accounts.get(party) !== account)
    ) {
      throw refusal('account_of_party');
    }
    const undone = decided.filter(({ isUndone }) => isUndone).map(({ id }) => id);
    if (undone.length > 0) {
      await holdAgain(tx, undone);
      const line = await readLineOut(tx, undone);
      if (line !== null) {
        throw refusal('account_line', { orderUid: line.orderUid, date: line.date });
      }
    }
    await announceDecision(tx, state === 'refused' ? undone : wanted);
    const dates = await tx.$queryRaw<{ date: CivilDate; accountChangeIds: number[] }[]>`
      SELECT accepted_date::text AS date, array_agg(id::float8 ORDER BY id) AS "accountChangeIds"
      FROM (
        SELECT id, accepted_date FROM conciliation.account_change
        UNION SELECT account_change_id, accepted_date FROM (${LASTING_HOLDS}) AS hold
      ) AS concerned
      WHERE id = ANY(${wanted}::bigint[]) GROUP BY accepted_date ORDER BY accepted_date`;
    for (const { date, accountChangeIds } of dates) {
      await recordAudit(tx, {
        actor: by,
        action: state === 'refused' ? 'account_change.refuse' : 'account_change.confirm',
        date,
        reason,
        details: { accountChangeIds, ...(state === 'parallel' && { isParallel: true }) },
      });
    }
  }, DECISION_TRANSACTION);
}

export const accountAlerts = {
  /**
   * One for each pull, so that a new change is told at once while older ones are open. The change of a party is recorded
   * once, by the first pull that has it.
   */
  account_changed: {
    severity: 'critical',
    page: '/account-changes',
    hasTask: true,
    causes: () => [
      Prisma.sql`
        SELECT pull_id AS cause, pull_id AS "pullId", count(*) AS changes,
               CASE WHEN min(accepted_date) = max(accepted_date) THEN min(accepted_date) END AS date
        FROM conciliation.account_change WHERE state = 'open' GROUP BY pull_id`,
    ],
  },
} satisfies Record<string, AlertEntry>;
