import { Type } from 'typebox';
import { declareOperation } from '../../console/api/api-request.ts';
import { count, dateOrNull } from '../../console/api/schema-parts.ts';
import { type Column, ListTable } from '../../console/list/columns.tsx';
import { anyOf, textField } from '../../console/list/filter.tsx';
import { declareList } from '../../console/list/list.tsx';
import { type Feature, todayOf } from '../../console/shell/console-parts.ts';
import { actorOf } from '../../console/shell/guard.ts';
import { maskAgent } from '../../console/shell/masking.ts';
import { Card } from '../../console/shell/parts.tsx';
import { OPERATE } from '../../console/shell/route-access.ts';
import {
  BALANCE_REASONS,
  BalanceGroup,
  BalanceRow,
  type BalanceRow as Row,
  readBalance,
  StatedBalance,
  stateBalances,
} from './balance.sql.ts';

const MAX_TAX_ID = 30;

const PARTIES: readonly Column<Pick<Row, 'company' | 'agent'>>[] = [
  {
    name: 'company',
    head: 'balance.company',
    value: ({ company }, { text }) => company || text('balance.unnamed'),
    isHead: true,
  },
  {
    name: 'agent',
    head: 'balance.agent',
    value: ({ agent }, { text }) => agent || text('balance.unnamed'),
  },
];

const VALUES: readonly Column<Pick<Row, 'owed' | 'inErp' | 'difference'>>[] = [
  { name: 'owed', head: 'balance.owed', kind: 'amount' },
  { name: 'in_erp', head: 'balance.inErp', kind: 'amount' },
  { name: 'difference', head: 'balance.difference', kind: 'amount' },
];

const COLUMNS: readonly Column<Row>[] = [
  ...PARTIES,
  { name: 'reason', head: 'balance.reason', word: ({ reason }) => `balance.reasons.${reason}` },
  {
    name: 'title',
    head: 'balance.title',
    value: ({ titleId }) => titleId && String(titleId),
    href: ({ titleId }) => (titleId === null ? null : `/titles/${titleId}`),
  },
  { name: 'accepted_date', head: 'balance.date', kind: 'day' },
  { name: 'order_uid', head: 'balance.order' },
  { name: 'erp_keys', head: 'balance.keys' },
  ...VALUES,
];

const GROUP_COLUMNS: readonly Column<BalanceGroup>[] = [
  ...PARTIES,
  ...VALUES,
  { name: 'booked', head: 'balance.booked', kind: 'amount' },
  { name: 'paid', head: 'balance.paid', kind: 'amount' },
  { name: 'balance', head: 'balance.account', kind: 'amount' },
  { name: 'as_of', head: 'balance.asOf', kind: 'date' },
  { name: 'account_difference', head: 'balance.accountDifference', kind: 'amount' },
];

/** What differs between the titles and the ERP, with the figures of each company and financial agent above. */
const BALANCE = declareList(BalanceRow, {
  name: 'balance',
  path: '/balance',
  active: '/balance',
  filter: {
    company: textField('balance.company', MAX_TAX_ID),
    agent: textField('balance.agent', MAX_TAX_ID),
    reason: anyOf('balance.reason', BALANCE_REASONS, (reason) => `balance.reasons.${reason}`),
  },
  columns: COLUMNS,
  mask: maskAgent,
  read: async (tx, filter, place) => {
    const { page, rows, ...total } = await readBalance(tx, filter, place);
    return { total: { rows, ...total }, rows: page };
  },
  none: (filter, { from, groups }) => {
    if (from === null || groups.length === 0) return 'balance.nothing';
    const isWhole = Object.values(filter).every((value) => value === null);
    return isWhole ? 'lists.balance.none' : 'balance.noneSelected';
  },
  api: {
    tag: 'payables',
    operationId: 'listBalanceDifferences',
    summary: 'The differences between what titles say is owed to financial agents and the ERP',
  },
  layout:
    async () =>
    ({ page: { text, formats, principal }, head, filter, table, total }) => {
      const { groups, groupSums: sums, from } = total;
      const shown = groups.map((group) => maskAgent(group, principal));
      const unstated = shown.filter(({ balance }) => balance === null);
      const agents = new Set(unstated.map(({ agent }) => agent || text('balance.unnamed')));
      return (
        <>
          {head}
          {from === null && <p class="quiet">{text('balance.noPayables')}</p>}
          {from !== null && groups.length > 0 && (
            <Card title={text('balance.groups')} class="stack">
              <p class="quiet">{text('balance.from', { date: formats.date(from) })}</p>
              <ListTable
                label={text('balance.groups')}
                columns={GROUP_COLUMNS}
                {...{ rows: shown, sums }}
              />
              {agents.size > 0 && (
                <p>{text('balance.noAccount', { agents: [...agents].join(', ') })}</p>
              )}
            </Card>
          )}
          {filter}
          {table}
        </>
      );
    },
});

const MAX_BALANCES = 1_000;

/** The figures of the proof of balance, and the balances of the ERP's accounts. */
const BALANCE_API = [
  declareOperation({
    path: '/balance-groups',
    scope: 'read',
    tag: 'payables',
    operationId: 'getBalanceGroups',
    summary: 'What is owed to each financial agent by the titles, and in the ERP',
    input: {},
    answer: Type.Object({
      from: Type.Unsafe({ ...dateOrNull, description: 'The first accepted date.' }),
      groups: Type.Array(BalanceGroup),
    }),
    run: async ({ database }, _, { principal }) => {
      const filter = { company: null, agent: null, reason: null };
      const { from, groups } = await readBalance(database.prisma, filter, { offset: 0, limit: 0 });
      return { from, groups: groups.map((group) => maskAgent(group, principal)) };
    },
  }),
  declareOperation({
    method: 'POST',
    path: '/erp-balances',
    who: OPERATE,
    scope: 'payables',
    tag: 'payables',
    operationId: 'putErpBalances',
    summary:
      'State balances of the accounts in which the ERP keeps what it owes to financial agents',
    input: { balances: Type.Array(StatedBalance, { minItems: 1, maxItems: MAX_BALANCES }) },
    answer: Type.Object({ stored: count }),
    run: async (parts, { balances }, request) => {
      const stating = { by: actorOf(request), today: todayOf(parts) };
      await stateBalances(parts.database, balances, stating);
      return { stored: balances.length };
    },
  }),
];

export const balance: Feature = {
  name: 'balance',
  lists: [BALANCE],
  api: BALANCE_API,
};
