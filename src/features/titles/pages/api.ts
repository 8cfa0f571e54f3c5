import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import { describe, requireId } from '../../../console/api/api-request.ts';
import { date, IdParameter, words } from '../../../console/api/schema-parts.ts';
import { fileTypeOf } from '../../../console/list/file.tsx';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskChange, maskColumn } from '../../../console/shell/masking.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { titlesAccepted } from '../export-titles.sql.ts';
import { EXPORT_FORMATS } from '../title-file.ts';
import { readTitleDetail, Title } from './title-detail.sql.ts';
import { sendTitleFile } from './title-export.ts';

const ExportQuery = Type.Object({
  from: date,
  to: date,
  format: words(EXPORT_FORMATS),
  locale: Type.Optional(words(['en', 'pt-BR'])),
  includeWithdrawn: Type.Optional(words(['true', 'false'])),
});

export function addTitlesApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

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
          fields: fields.map(maskChange),
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
        types: EXPORT_FORMATS.map(fileTypeOf),
      },
    ),
    async (request, reply) => {
      const { from, to, format, includeWithdrawn, locale } = request.query as Static<
        typeof ExportQuery
      >;
      if (from > to) {
        throw new InputError(`the range ends on ${to}, before it begins on ${from}`);
      }
      const noted = { includeWithdrawn: includeWithdrawn === 'true' };
      return sendTitleFile(request, reply, parts, {
        selection: titlesAccepted({ from, to, ...noted }),
        noted,
        format,
        // The names of the data dictionary in either notation.
        locale: locale ?? 'pt-BR',
      });
    },
  );
}
