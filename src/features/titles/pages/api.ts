import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import { type Language, textOf } from '../../../base/texts/texts.ts';
import { describe, limitOf, requireDate, requireId } from '../../../console/api/api-request.ts';
import {
  DateParameter,
  date,
  IdParameter,
  orNull,
  words,
} from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskColumn } from '../../../console/shell/masking.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { EXPORT_FORMATS } from '../title-file.ts';
import { parseExport } from './export-routes.tsx';
import { readTitleDetail, Title } from './title-detail.sql.ts';
import { CONTENT_TYPES, sendTitleFile } from './title-export.ts';
import { TITLE_FILTER } from './title-filters.sql.ts';
import { parseTitleQuery, readTitlePage, TITLE_PLACE, TitleRow } from './title-list.sql.ts';

const TitlePage = Type.Object({
  rows: Type.Array(TitleRow),
  previous: orNull('string', {
    description: 'For `at`: the page before. Null: this is the first.',
  }),
  next: orNull('string', { description: 'For `at`: the page after. Null: this is the last.' }),
});

const { from: _from, to: _to, ...OF_DAY } = TITLE_FILTER;
/** Parsed as on the pages. */
const TitleQueryParameters = Type.Object({
  ...Object.fromEntries(
    Object.entries({ ...OF_DAY, ...TITLE_PLACE }).map(([name, { schema }]) => [
      name,
      Type.Optional(schema),
    ]),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});

const ExportQuery = Type.Object({
  from: date,
  to: date,
  format: words(EXPORT_FORMATS),
  locale: Type.Optional(words(['en', 'pt-BR'])),
  includeWithdrawn: Type.Optional(words(['true', 'false'])),
});

/** The operations of the API for titles. */
export function addTitlesApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  api.get(
    '/days/:date/titles',
    describe(
      forKeys(EVERYBODY, 'read'),
      'titles',
      'listTitlesOfDay',
      'Titles of a day, page by page',
      {
        params: DateParameter,
        querystring: TitleQueryParameters,
        answer: TitlePage,
      },
    ),
    async (request) => {
      const query = parseTitleQuery(request.query, requireDate(request), 'en');
      if (query.faults.length > 0) {
        throw new InputError(
          `these parameters cannot be read: ${query.faults.map((label) => textOf('en')(label)).join(', ')}`,
        );
      }
      return readTitlePage(database, { ...query, limit: limitOf(request) });
    },
  );

  api.get(
    '/titles/:id',
    describe(forKeys(EVERYBODY, 'read'), 'titles', 'getTitle', 'One title with its whole history', {
      params: IdParameter,
      answer: Title,
    }),
    async (request, reply) => {
      const title = await readTitleDetail(database, requireId(request));
      if (title === null) return reply.callNotFound();
      const { first: _, contentHash: __, ...rest } = title;
      return {
        ...rest,
        fields: Object.fromEntries(
          Object.entries(title.fields).map(([column, value]) => [
            column,
            maskColumn(column, value),
          ]),
        ),
        revisions: title.revisions.map(({ revision, kind, changedAt, pullId, fields }) => ({
          revision,
          kind,
          changedAt,
          pullId,
          fields: fields.map(mask),
        })),
      };
    },
  );

  api.get(
    '/export',
    describe(
      forKeys(EVERYBODY, 'export'),
      'titles',
      'exportTitles',
      'Titles of a range as a file',
      {
        querystring: ExportQuery,
        answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
        types: Object.values(CONTENT_TYPES),
      },
    ),
    async (request, reply) => {
      const { principal } = request;
      if (principal === null) throw new Error('this route has no guard');
      const locale: Language = textParameter(request.query, 'locale') === 'en' ? 'en' : 'pt-BR';
      return sendTitleFile(reply, parts, principal, {
        ...parseExport(request.query),
        locale,
        // For programs: the names of the data dictionary in either notation.
        language: 'en',
      });
    },
  );
}

function mask<T extends { column: string; before: string | null; after: string | null }>(field: T) {
  const { column, before, after } = field;
  return { column, before: maskColumn(column, before), after: maskColumn(column, after) };
}
