import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { describe } from '../../../console/api/api-request.ts';
import { count, dateOrNull } from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forKeys, OPERATE } from '../../../console/shell/route-access.ts';
import { BalanceGroup, readBalance } from '../balance.sql.ts';
import { StatedBalance, stateBalances } from '../state-balance.ts';

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
    async () => {
      const filter = { company: null, agent: null, reason: null };
      const { from, groups } = await readBalance(database.prisma, filter, { offset: 0, limit: 0 });
      return { from, groups };
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
