import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { describe } from '../../../console/api/api-request.ts';
import { date, id, instant, orNull, words } from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { readSweeps, SWEEP_STATES } from '../sweeps.sql.ts';

const Sweep = Type.Object(
  {
    id,
    from: date,
    state: words(SWEEP_STATES),
    startedAt: instant,
    finishedAt: instant,
    titles: orNull('integer'),
    datesCompared: orNull('integer'),
    datesDiffering: orNull('integer'),
    undatedTitles: orNull('integer', {
      description: 'Titles without a readable accepted date. They belong to no date.',
    }),
    futureTitles: orNull('integer', {
      description: 'Titles of a date that had not begun. They belong to no date.',
    }),
    earlyTitles: orNull('integer', {
      description: 'Titles of a date before `from`. They belong to no date.',
    }),
    errorCode: orNull('string'),
    errorMessage: orNull('string'),
  },
  { description: 'The results are null where the sweep failed.' },
);

/** The operations of the API for sweep. */
export function addSweepApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  api.get(
    '/sweeps',
    describe(forKeys(EVERYBODY, 'read'), 'sweeps', 'listSweeps', 'The newest sweeps', {
      answer: Type.Array(Sweep),
    }),
    async () => readSweeps(database, 100),
  );
}
