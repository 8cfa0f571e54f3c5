import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { recordAudit } from '../../../base/audit/audit.ts';
import type { Database } from '../../../base/database/database.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { describe } from '../../../console/api/api-request.ts';
import { count, date, dateOrNull } from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import { maskAgent } from '../../../console/shell/masking.ts';
import { EVERYBODY, forKeys, OPERATE } from '../../../console/shell/route-access.ts';
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

const Body = Type.Object({
  balances: Type.Array(StatedBalance, { minItems: 1, maxItems: MAX_BALANCES }),
});

/** The figures of the proof of balance, and the balances of the ERP's accounts. */
export function addBalanceApi(api: FastifyInstance, { database }: ConsoleParts): void {
  api.get(
    '/balance-groups',
    describe(
      forKeys(EVERYBODY, 'read'),
      'payables',
      'getBalanceGroups',
      'What is owed to each financial agent by the titles, and in the ERP',
      {
        answer: Type.Object({
          from: Type.Unsafe({ ...dateOrNull, description: 'The first accepted date.' }),
          groups: Type.Array(BalanceGroup),
        }),
      },
    ),
    async ({ principal }) => {
      const filter = { company: null, agent: null, reason: null };
      const { from, groups } = await readBalance(database.prisma, filter, { offset: 0, limit: 0 });
      return { from, groups: groups.map((group) => maskAgent(group, principal)) };
    },
  );

  api.post(
    '/erp-balances',
    describe(
      forKeys(OPERATE, 'payables'),
      'payables',
      'putErpBalances',
      'State balances of the accounts in which the ERP keeps what it owes to financial agents',
      { body: Body, answer: Type.Object({ stored: count }) },
    ),
    async (request) => {
      const { balances } = request.body as Static<typeof Body>;
      await stateBalances(database, balances, actorOf(request));
      return { stored: balances.length };
    },
  );
}
