import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InputError } from '../../../base/runtime/errors.ts';
import { dateIn, lastClosedDate, parseCivilDate } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { faultSentence } from '../../../console/shell/error-page.tsx';
import { pageContext, textParameter } from '../../../console/shell/page-context.ts';
import { EVERYBODY, forPeople } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { type DoubtfulDates, readDoubtfulDates } from '../export-titles.sql.ts';
import { EXPORT_FORMATS } from '../title-file.ts';
import { ExportPage } from './export-page.tsx';
import { sendTitleFile } from './title-export.ts';

/** Routes to download titles as a file. */
export function addExportRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  /**
   * @param stop why the form of the source is not carried out: it cannot be, or its range has dates
   * about which the person has to be asked first
   */
  const showForm = (
    request: FastifyRequest,
    reply: FastifyReply,
    source: unknown,
    stop: { readonly fault?: InputError; readonly doubtful?: DoubtfulDates },
  ) => {
    const { fault = null, doubtful = null } = stop;
    const closed = lastClosedDate(parts.timeZone, parts.now?.() ?? new Date());
    const form = {
      from: textParameter(source, 'from') ?? (fault === null ? closed : ''),
      to: textParameter(source, 'to') ?? (fault === null ? closed : ''),
      format: textParameter(source, 'format') ?? '',
      includeWithdrawn: textParameter(source, 'includeWithdrawn') === 'true',
    };
    const role = request.principal?.role ?? 'viewer';
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('exports.title'),
      active: '/exports',
      status: fault === null ? 200 : 400,
      body: (
        <ExportPage
          form={form}
          fault={fault === null ? null : faultSentence(context, fault)}
          doubtful={doubtful}
          isMasked={!maySeePersonalData(role)}
        />
      ),
    }));
  };

  server.get('/exports', forPeople(EVERYBODY), (request, reply) =>
    showForm(request, reply, request.query, {}),
  );

  server.post('/exports', forPeople(EVERYBODY), async (request, reply) => {
    const { principal } = request;
    if (principal === null) throw new Error('this route has no guard');
    const { language } = pageContext(request, parts.timeZone);
    const chosen = readForm(request.body);
    if (chosen instanceof InputError) {
      return showForm(request, reply, request.body, { fault: chosen });
    }
    if (textParameter(request.body, 'confirmed') !== `${chosen.from} ${chosen.to}`) {
      const today = dateIn(parts.timeZone, parts.now?.() ?? new Date());
      const doubtful = await readDoubtfulDates(parts.database, chosen, today);
      if (doubtful !== null) return showForm(request, reply, request.body, { doubtful });
    }
    return sendTitleFile(reply, parts, principal, { ...chosen, locale: language, language });
  });
}

function readForm(source: unknown) {
  try {
    return parseExport(source);
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}

/** @throws InputError for an invalid range or format */
export function parseExport(source: unknown) {
  const from = parseCivilDate(textParameter(source, 'from') ?? '');
  const to = parseCivilDate(textParameter(source, 'to') ?? '');
  const format = EXPORT_FORMATS.find((known) => known === textParameter(source, 'format'));
  if (from === null || to === null) {
    throw new InputError('from and to: expected two dates as YYYY-MM-DD', {
      context: { fault: 'range_missing' },
    });
  }
  if (from > to) {
    throw new InputError(`the range ends on ${to}, before it begins on ${from}`, {
      context: { fault: 'range_order', from, to },
    });
  }
  if (format === undefined) {
    throw new InputError(`format: expected one of ${EXPORT_FORMATS.join(', ')}`, {
      context: { fault: 'file_format' },
    });
  }
  const withdrawn = textParameter(source, 'includeWithdrawn');
  return { from, to, format, includeWithdrawn: withdrawn === 'true' };
}
