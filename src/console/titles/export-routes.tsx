import type { FastifyInstance } from 'fastify';
import { lastClosedDate, parseCivilDate } from '../../domain/business-day.ts';
import { maySeePersonalData } from '../../domain/role.ts';
import { EXPORT_FORMATS } from '../../export/title-file.ts';
import { InputError } from '../../runtime/errors.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { pageContext, textParameter } from '../shell/page-context.ts';
import { sendPage } from '../shell/send-page.ts';
import { ExportPage } from './export-page.tsx';
import { sendTitleFile } from './title-export.ts';

/** Routes to download titles as a file. */
export function addExportRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  server.get('/exports', async (request, reply) => {
    const closed = lastClosedDate(parts.timeZone, parts.now?.() ?? new Date());
    const [from, to] = (['from', 'to'] as const).map(
      (name) => parseCivilDate(textParameter(request.query, name) ?? '') ?? closed,
    );
    const role = request.principal?.role ?? 'viewer';
    return sendPage(request, reply, parts, (context) => ({
      title: context.text.exports.title,
      active: '/exports',
      body: (
        <ExportPage
          context={context}
          from={from ?? closed}
          to={to ?? closed}
          isMasked={!maySeePersonalData(role)}
        />
      ),
    }));
  });

  server.post('/exports', async (request, reply) => {
    const { principal } = request;
    if (principal === null) throw new Error('this route has no guard');
    const { language } = pageContext(request, parts.timeZone);
    return sendTitleFile(reply, parts, principal, {
      ...parseExport(request.body),
      locale: language,
    });
  });
}

/** @throws InputError for an invalid range or format */
export function parseExport(source: unknown) {
  const from = parseCivilDate(textParameter(source, 'from') ?? '');
  const to = parseCivilDate(textParameter(source, 'to') ?? '');
  const format = EXPORT_FORMATS.find((known) => known === textParameter(source, 'format'));
  if (from === null || to === null || from > to) {
    throw new InputError('from and to: expected two dates as YYYY-MM-DD, in order');
  }
  if (format === undefined) {
    throw new InputError(`format: expected one of ${EXPORT_FORMATS.join(', ')}`);
  }
  const withdrawn = textParameter(source, 'includeWithdrawn');
  return { from, to, format, includeWithdrawn: withdrawn === 'true' };
}
