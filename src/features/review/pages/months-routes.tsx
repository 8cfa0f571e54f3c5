import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InputError } from '../../../base/runtime/errors.ts';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { pageContext, textParameter } from '../../../console/shell/page-context.ts';
import { actorOf, optionalReason } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, REVIEW, STAFF } from '../../../console/shell/route-access.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import {
  type CivilMonth,
  firstDateOf,
  lastDateOf,
  MONTH_FAULTS,
  type MonthFault,
  parseMonth,
} from '../months/civil-month.ts';
import { readEvidence, writeEvidenceFile } from '../months/evidence.sql.ts';
import {
  digestOfDays,
  readErpStages,
  readMonthDays,
  readMonthSeals,
  readMonths,
  sealMonth,
} from '../months/month-seal.sql.ts';
import { MonthPage, type MonthPageData, renderSummary } from './months-pages.tsx';

/** Routes of the closing of months. */
export function addMonthsRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  const showMonth = async (
    request: FastifyRequest,
    reply: FastifyReply,
    month: CivilMonth,
    refusal: MonthFault | null,
  ) => {
    const data = await readMonthPage(parts, month);
    if (data === null) return reply.callNotFound();
    return sendPage(request, reply, parts, (context) => ({
      title: context.formats.month(month),
      active: '/months',
      status: refusal === null ? 200 : 400,
      body: <MonthPage data={{ ...data, refusal }} />,
    }));
  };

  server.get('/months/:month', forPeople(EVERYBODY), async (request, reply) => {
    const month = monthOfPath(request);
    return month === null ? reply.callNotFound() : showMonth(request, reply, month, null);
  });

  server.post('/months/:month/evidence', forPeople(STAFF), async (request, reply) => {
    const month = monthOfPath(request);
    return month === null ? reply.callNotFound() : sendEvidence(request, reply, parts, month);
  });

  server.post('/months/:month/seal', forPeople(REVIEW), async (request, reply) => {
    const month = monthOfPath(request);
    if (month === null) return reply.callNotFound();
    try {
      await sealMonth(database, month, {
        by: actorOf(request),
        reason: optionalReason(request.body),
        seenDigest: textParameter(request.body, 'digest') ?? '',
      });
    } catch (error) {
      const fault = faultOf(error);
      if (fault === null) throw error;
      return showMonth(request, reply, month, fault);
    }
    return reply.redirect(`/months/${month}?notice=month_sealed`, 303);
  });
}

/**
 * Streams the evidence of a month. The audit log records the file before the first byte.
 * @throws InputError when the month is not sealed
 */
export function sendEvidence(
  request: FastifyRequest,
  reply: FastifyReply,
  { database, logger, timeZone }: ConsoleParts,
  month: CivilMonth,
): Promise<FastifyReply> {
  const actor = actorOf(request);
  const context = pageContext(request, timeZone);
  return sendFile(reply, logger, (signal, send) =>
    readEvidence(database, { month, actor }, signal, async (evidence) => {
      const range = { from: firstDateOf(month), to: lastDateOf(month) };
      const made = { at: new Date(), by: actor };
      const data = { evidence, made, stages: await readErpStages(database, range) };
      return send({
        name: `${context.text('fileNames.evidence')}-${month}.zip`,
        type: 'application/zip',
        bytes: writeEvidenceFile(evidence, { ...made, summary: renderSummary(context, data) }),
      });
    }),
  );
}

/** Returns the month of `/months/:month`; null: it is none. */
export function monthOfPath(request: FastifyRequest): CivilMonth | null {
  return parseMonth(textParameter(request.params, 'month') ?? '');
}

/** Returns the data of a month; null: the ledger does not have the month. */
export async function readMonthPage(
  parts: ConsoleParts,
  name: CivilMonth,
): Promise<Omit<MonthPageData, 'refusal'> | null> {
  const { database } = parts;
  const [month] = await readMonths(database.prisma, todayOf(parts), name);
  if (month === undefined) return null;
  const [days, seals, stages] = await Promise.all([
    readMonthDays(database.prisma, month),
    readMonthSeals(database.prisma, name),
    readErpStages(database, month),
  ]);
  return { month, days, seals, stages, presentDigest: digestOfDays(name, days) };
}

function faultOf(error: unknown): MonthFault | null {
  const fault = error instanceof InputError ? error.context['fault'] : undefined;
  return (Object.keys(MONTH_FAULTS) as MonthFault[]).find((name) => name === fault) ?? null;
}
