import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { describe } from '../../console/api/api-request.ts';
import type { ConsoleParts, Feature } from '../../console/shell/console-parts.ts';
import { EVERYBODY, forKeys } from '../../console/shell/route-access.ts';
import { planDifferences, readSweeps, Sweep } from './sweeps.sql.ts';

export const sweep: Feature = {
  name: 'sweep',
  engine: {
    inPlanning: async (tx, { isScheduled }) => (isScheduled ? planDifferences(tx) : 0),
  },
  api: [addSweepApi],
};

/** The operations of the API for sweep. */
function addSweepApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  api.get(
    '/sweeps',
    describe(forKeys(EVERYBODY, 'read'), 'sweeps', 'listSweeps', 'The newest sweeps', {
      answer: Type.Array(Sweep),
    }),
    async () => readSweeps(database, 100),
  );
}
