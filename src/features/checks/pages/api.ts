import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { CHECK_CODES } from '../../../base/values/checks.ts';
import { describe, limitOf, numberOf } from '../../../console/api/api-request.ts';
import {
  amount,
  count,
  date,
  dateOrNull,
  id,
  instant,
  instantOrNull,
  orNull,
  pageOfList,
  words,
} from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { countFindings, FINDING_STATES, readFindings } from '../findings.sql.ts';
import { findingFilter } from './finding-address.ts';

const FindingsQuery = Type.Object({
  state: Type.Optional(words([...FINDING_STATES, 'all'])),
  check: Type.Optional(words(CHECK_CODES)),
  severity: Type.Optional(words(['info', 'review'])),
  date: Type.Optional(date),
  ...pageOfList,
});

const Findings = Type.Object({
  total: count,
  findings: Type.Array(
    Type.Object({
      id,
      code: words(CHECK_CODES),
      severity: words(['info', 'review']),
      state: words(FINDING_STATES),
      date,
      titleId: Type.Integer(),
      orderUid: Type.String(),
      providerExternalId: orNull('string'),
      dueDate: dateOrNull,
      originalValue: amount,
      detail: Type.Record(Type.String(), Type.String(), {
        description:
          'What was compared: field, value, limit and other title, as far as the check has them.',
      }),
      foundAt: instant,
      resolvedAt: instantOrNull,
      resolvedBy: orNull('string'),
      reason: orNull('string'),
    }),
    { description: 'The newest date first.' },
  ),
});

/** The findings of the checks. */
export function addFindingsApi(api: FastifyInstance, { database }: ConsoleParts): void {
  api.get(
    '/findings',
    describe(forKeys(EVERYBODY, 'read'), 'days', 'listFindings', 'Findings of the checks', {
      querystring: FindingsQuery,
      answer: Findings,
    }),
    async (request) => {
      const filter = findingFilter(request.query);
      const page = { offset: numberOf(request, 'offset') ?? 0, limit: limitOf(request) };
      const [total, findings] = await Promise.all([
        countFindings(database, filter),
        readFindings(database, filter, page),
      ]);
      return { total, findings };
    },
  );
}
