import { type Static, Type } from 'typebox';
import { recordAudit } from '../../../base/audit/audit.ts';
import type { Database } from '../../../base/database/database.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { declareOperation } from '../../../console/api/api-request.ts';
import { count, date, dateOrNull } from '../../../console/api/schema-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import { maskAgent } from '../../../console/shell/masking.ts';
import { OPERATE } from '../../../console/shell/route-access.ts';
import { cnpjOf } from '../../matching/companies.sql.ts';
import { AMOUNT } from '../../matching/payables/payable.ts';
import { BalanceGroup, readBalance } from '../balance.sql.ts';

const cnpj = (description: string) => Type.String({ minLength: 1, maxLength: 30, description });

/** The balance of an account of the ERP. */
export const StatedBalance = Type.Object({
  company: cnpj('CNPJ of the company, the buyer of the titles. The mask is accepted.'),
  agent: cnpj('CNPJ of the financial agent. The mask is accepted.'),
  asOf: date,
  balance: Type.String({
    pattern: AMOUNT.source,
    description: 'What the company owes to the agent at the end of the day. Exact decimal.',
  }),
});
type StatedBalance = Static<typeof StatedBalance>;

/**
 * Writes balances of the ERP.
 * @throws InputError when an identifier is no CNPJ
 */
export async function stateBalances(
  { prisma }: Database,
  balances: readonly StatedBalance[],
  by: string,
): Promise<void> {
  const data = balances.map(({ company, agent, asOf, balance }) => ({
    ...{ company: digitsOf('company', company), agent: digitsOf('agent', agent) },
    ...{ asOf, balance, statedBy: by },
  }));
  await prisma.$transaction(async (tx) => {
    await tx.erpBalance.createMany({ data });
    await recordAudit(tx, {
      actor: by,
      action: 'balance.import',
      details: { balances: data.length },
    });
  });
}

function digitsOf(field: string, written: string): string {
  const digits = cnpjOf(written);
  if (digits !== null) return digits;
  throw new InputError(`${field}: expected a CNPJ with the right check digits`);
}

const MAX_BALANCES = 1_000;

/** The figures of the proof of balance, and the balances of the ERP's accounts. */
export const BALANCE_API = [
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
    run: async ({ database }, { balances }, request) => {
      await stateBalances(database, balances, actorOf(request));
      return { stored: balances.length };
    },
  }),
];
