import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import { readOwnSeals } from '../../../base/database/own-seal.sql.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { encodeList, FILE_FORMATS, fileFormatOf } from '../../../console/list/file.tsx';
import { readFilter } from '../../../console/list/filter.tsx';
import { type ConsoleParts, payablesMaxAge } from '../../../console/shell/console-parts.ts';
import { pageContext, textParameter, textParameters } from '../../../console/shell/page-context.ts';
import { pagingOf } from '../../../console/shell/paging.tsx';
import { actorOf, idOfPath, requireReason } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, mayUse, REVIEW } from '../../../console/shell/route-access.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import {
  BREAK_CODES,
  type BreakKey,
  listBreaks,
  readBreak,
  readCandidates,
} from '../breaks.sql.ts';
import {
  confirmAgent,
  confirmCompanies,
  endConfirmation,
  readConfirmations,
} from '../confirmations.sql.ts';
import {
  matchByPerson,
  resolveBreak,
  resolveBreaks,
  undoMatch,
  WAITS,
} from '../match-decisions.sql.ts';
import { arePayablesStale, readPayableState } from '../payables/payable-state.sql.ts';
import { BreakPage } from './break-page.tsx';
import { BREAK_FILTER, BreaksPage, breakColumns, breakKey } from './breaks-page.tsx';
import { CompaniesPage, pairOf } from './companies-page.tsx';

/** The most breaks of one file. */
const MAX_BREAKS = 100_000;

const BREAKS_A_PAGE = 50;

/** Routes of breaks and matches. */
export function addMatchingRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, logger, fourEyes, timeZone } = parts;
  const decisionOf = (request: FastifyRequest) => ({
    by: actorOf(request),
    reason: requireReason(request.body),
    fourEyes,
  });
  const resolutionOf = (request: FastifyRequest) => {
    const stated = textParameter(request.body, 'code');
    const code = BREAK_CODES.find((known) => known === stated);
    if (code === undefined) {
      throw new InputError(`code: expected one of ${BREAK_CODES.join(', ')}`, {
        context: { fault: 'break_code' },
      });
    }
    return { ...decisionOf(request), code };
  };

  server.get('/breaks', forPeople(EVERYBODY), async (request, reply) => {
    const { filter, faults } = readFilter(BREAK_FILTER, request.query);
    const read = (offset: number) =>
      listBreaks(database, { ...filter, offset, limit: BREAKS_A_PAGE });
    const asked = pagingOf(request.query, 'page', Number.MAX_SAFE_INTEGER, BREAKS_A_PAGE);
    let list = await read(asked.offset);
    const paging = pagingOf(request.query, 'page', list.total, BREAKS_A_PAGE);
    if (paging.page !== asked.page) list = await read(paging.offset);
    const state = await readPayableState(database.prisma);
    const isStale =
      state !== null && (await arePayablesStale(database.prisma, payablesMaxAge(parts)));
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('matching.title'),
      active: '/breaks',
      body: (
        <BreaksPage
          {...{ filter, faults, state, isStale, list, paging }}
          isReviewer={mayUse(context.principal?.role ?? 'viewer', 'POST', '/breaks/resolve')}
        />
      ),
    }));
  });

  server.post('/breaks/file', forPeople(EVERYBODY), async (request, reply) => {
    const format = fileFormatOf(request.body, FILE_FORMATS);
    const { filter } = readFilter(BREAK_FILTER, request.body);
    const page = pageContext(request, timeZone);
    const { breaks, total } = await listBreaks(database, {
      ...filter,
      offset: 0,
      limit: MAX_BREAKS,
    });
    if (total > MAX_BREAKS) {
      throw new InputError(
        `${total} breaks; a file has at most ${MAX_BREAKS}: choose a date, supplier or kind`,
        {
          context: { fault: 'breaks_too_many', count: String(total), limit: String(MAX_BREAKS) },
        },
      );
    }
    // Before the first byte, so that every file leaves an entry.
    await recordAudit(database.prisma, {
      actor: actorOf(request),
      action: 'list.export',
      date: filter.date,
      details: { list: 'breaks', format, rows: total },
    });
    const rows = (async function* () {
      yield breaks;
    })();
    const sheet = page.text('matching.breaks');
    const content = { columns: breakColumns(filter), rows, rowCount: total, sheet };
    const file = encodeList(content, format, page);
    const name = `${page.text('fileNames.breaks')}.${format}`;
    return sendFile(reply, logger, (_, send) => send({ name, ...file }));
  });

  server.get('/break', forPeople(EVERYBODY), async (request, reply) => {
    const key = breakKey(request.query);
    return key === null ? reply.callNotFound() : showBreak(request, reply, key);
  });

  const showBreak = async (request: FastifyRequest, reply: FastifyReply, key: BreakKey) => {
    const found = await readBreak(database.prisma, key);
    const candidates =
      found?.title == null || found.title.isWithdrawn
        ? []
        : await readCandidates(database, BigInt(found.title.id));
    const date = found?.title?.acceptedDate ?? null;
    const [ownDate = null] = fourEyes
      ? await readOwnSeals(database.prisma, [date], actorOf(request), WAITS)
      : [];
    return sendPage(request, reply, parts, (context) => {
      const { text } = context;
      return {
        title: text(`matching.kinds.${key.kind}`),
        active: '/breaks',
        status: found === null ? 404 : 200,
        body:
          found === null ? (
            <section class="card stack">
              <h1>{text(`matching.kinds.${key.kind}`)}</h1>
              <p>{text('matching.gone')}</p>
              <p>
                <a href="/breaks">← {text('matching.title')}</a>
              </p>
            </section>
          ) : (
            <BreakPage found={found} candidates={candidates} ownDate={ownDate} />
          ),
      };
    });
  };

  server.post('/break/match', forPeople(REVIEW), async (request, reply) => {
    const key = breakKey({ ...(request.body as object), kind: 'missing_in_erp' });
    if (key?.titleId == null || key.erpKey === null) return reply.callNotFound();
    await matchByPerson(
      database,
      { titleId: key.titleId, erpKey: key.erpKey },
      decisionOf(request),
    );
    return reply.redirect(listAfter(request.body, 'matched'), 303);
  });

  server.post('/break/resolve', forPeople(REVIEW), async (request, reply) => {
    const key = breakKey(request.body);
    if (key === null) return reply.callNotFound();
    const seenGround = textParameter(request.body, 'ground') ?? '';
    await resolveBreak(database, { ...key, seenGround }, resolutionOf(request));
    return reply.redirect(listAfter(request.body, 'break_resolved'), 303);
  });

  server.post('/breaks/resolve', forPeople(REVIEW), async (request, reply) => {
    const { filter } = readFilter(BREAK_FILTER, request.body);
    const seenDigest = textParameter(request.body, 'digest') ?? '';
    await resolveBreaks(database, { ...filter, seenDigest }, resolutionOf(request));
    return reply.redirect(listAfter(request.body, 'break_resolved'), 303);
  });

  server.post('/matches/:id/undo', forPeople(REVIEW), async (request, reply) => {
    const id = idOfPath(request);
    if (id === null) return reply.callNotFound();
    const titleId = await undoMatch(database, id, decisionOf(request));
    return reply.redirect(`/titles/${titleId}?notice=match_undone`, 303);
  });

  server.get('/companies', forPeople(EVERYBODY), async (request, reply) => {
    const data = await readConfirmations(database);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('matching.companies'),
      active: '/breaks',
      body: <CompaniesPage data={data} />,
    }));
  });

  server.post('/companies', forPeople(REVIEW), async (request, reply) => {
    const { body } = request;
    const company = textParameter(body, 'company');
    const buyer = textParameter(body, 'buyer');
    const pairs = [
      ...textParameters(body, 'pair').map(pairOf),
      ...(company === null && buyer === null
        ? []
        : [{ company: company ?? '', buyer: buyer ?? '' }]),
    ];
    await confirmCompanies(database, pairs, decisionOf(request));
    return reply.redirect('/companies?notice=confirmed', 303);
  });

  server.post('/agents', forPeople(REVIEW), async (request, reply) => {
    const { body } = request;
    const field = (name: string) => textParameter(body, name) ?? '';
    const agents = { taxId: field('taxId'), sameAs: field('sameAs') };
    await confirmAgent(database, agents, decisionOf(request));
    return reply.redirect('/companies?notice=confirmed', 303);
  });

  for (const [path, kind] of [
    ['/companies/:id/end', 'company'],
    ['/agents/:id/end', 'agent'],
  ] as const) {
    server.post(path, forPeople(REVIEW), async (request, reply) => {
      const id = idOfPath(request);
      if (id === null) return reply.callNotFound();
      await endConfirmation(database, kind, id, decisionOf(request));
      return reply.redirect('/companies?notice=confirmation_ended', 303);
    });
  }
}

/** The breaks of the date whose break was decided. */
function listAfter(body: unknown, notice: string): string {
  const { date } = readFilter(BREAK_FILTER, body).filter;
  return `/breaks?${new URLSearchParams({ ...(date !== null && { date }), notice })}`;
}
