import { type Static, Type } from 'typebox';
import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { date } from '../../console/api/schema-parts.ts';
import { cnpjOf } from '../matching/companies.sql.ts';
import { AMOUNT } from '../matching/payables/payable.ts';

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
