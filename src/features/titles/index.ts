import { Type } from 'typebox';
import { InputError } from '../../base/runtime/errors.ts';
import { declareOperation } from '../../console/api/api-request.ts';
import { id, ledgerDate, words } from '../../console/api/schema-parts.ts';
import { fileTypeOf } from '../../console/list/file.tsx';
import type { Feature } from '../../console/shell/console-parts.ts';
import { maskChange, maskColumn, maskPromoted } from '../../console/shell/masking.ts';
import { titlesAccepted } from './export-titles.sql.ts';
import { readTitleDetail, Title } from './pages/title-detail.sql.ts';
import { TITLE } from './pages/title-page.tsx';
import { TITLES } from './pages/titles-page.tsx';
import { EXPORT_FORMATS, sendTitleFile } from './title-file.ts';

const TITLES_API = [
  declareOperation({
    path: '/titles/:id',
    scope: 'read',
    tag: 'titles',
    operationId: 'getTitle',
    summary: 'One title with its whole history',
    input: { id },
    answer: Title,
    run: async ({ database }, { id }) => {
      const title = await readTitleDetail(database, BigInt(id));
      if (title === null) return null;
      return {
        ...title,
        fields: Object.fromEntries(
          Object.entries(title.fields).map(([column, value]) => [
            column,
            maskColumn(column, value),
          ]),
        ),
        promoted: title.promoted.map(maskPromoted),
        revisions: title.revisions
          .filter(({ kind }) => kind !== 'inserted')
          .map(({ origin: _, requestedBy: __, fields, ...revision }) => ({
            ...revision,
            fields: fields.map(maskChange),
          })),
      };
    },
  }),
  declareOperation({
    path: '/export',
    scope: 'export',
    tag: 'titles',
    operationId: 'exportTitles',
    summary: 'Titles of a range as a file',
    input: {
      from: ledgerDate,
      to: ledgerDate,
      format: words(EXPORT_FORMATS),
      locale: Type.Optional(words(['en', 'pt-BR'])),
      includeWithdrawn: Type.Optional(words(['true', 'false'])),
    },
    answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
    types: EXPORT_FORMATS.map(fileTypeOf),
    run: (parts, { from, to, format, includeWithdrawn, locale = 'pt-BR' }, request, reply) => {
      if (from > to) {
        throw new InputError(`the range ends on ${to}, before it begins on ${from}`);
      }
      const selection = titlesAccepted({ from, to, includeWithdrawn: includeWithdrawn === 'true' });
      // The names of the data dictionary in either notation.
      return sendTitleFile(request, reply, parts, selection, format, locale);
    },
  }),
];

export const titles: Feature = {
  name: 'titles',
  pages: [TITLE],
  lists: [TITLES],
  api: TITLES_API,
};
