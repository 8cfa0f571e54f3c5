import { Type } from 'typebox';
import { LANGUAGES } from '../../../base/texts/texts.ts';
import { declareOperation } from '../../../console/api/api-request.ts';
import { count, dateOrNull, orNull } from '../../../console/api/schema-parts.ts';
import { NEEDS } from '../../review/ledger-days.sql.ts';
import { headlineOf, readOpenItems } from '../open-items.ts';

const Status = Type.Object({
  startDate: dateOrNull,
  lastReconciledDate: dateOrNull,
  lagDays: orNull('integer', { description: 'Dates that are over and have no data.' }),
  needs: Type.Object(Object.fromEntries(NEEDS.map((need) => [need, count])), {
    description: 'Days that wait for a person, by the next decision.',
  }),
  openAlerts: count,
  accountChanges: Type.Integer({
    minimum: 0,
    description: 'Changed bank accounts without a decision.',
  }),
  unmappedCompanies: Type.Integer({
    minimum: 0,
    description: 'Companies of the ERP whose buyers a person has to confirm.',
  }),
  headline: Type.Object(
    Object.fromEntries(
      LANGUAGES.map((language) => [
        language,
        Type.Object({
          inOrder: Type.Boolean({ description: 'Whether nothing waits for a person.' }),
          title: Type.String(),
          lines: Type.Array(Type.String()),
        }),
      ]),
    ),
    { description: 'The state of the ledger in the words of the start page.' },
  ),
});

export const STATUS = declareOperation({
  path: '/status',
  scope: 'read',
  tag: 'status',
  operationId: 'getStatus',
  summary: 'The progress of the ledger, and the decisions that are open',
  input: {},
  answer: Status,
  run: async (parts) => {
    const { database } = parts;
    const now = parts.now?.() ?? new Date();
    const [items, openAlerts] = await Promise.all([
      readOpenItems(database, { now, policy: parts }),
      database.prisma.alert.count({ where: { resolvedAt: null } }),
    ]);
    const { tasks: _, yesterday: __, lagDays, ...progress } = items;
    return {
      ...progress,
      lagDays: progress.startDate === null ? null : lagDays,
      openAlerts,
      headline: Object.fromEntries(
        LANGUAGES.map((language) => [language, headlineOf(items, language)]),
      ),
    };
  },
});
