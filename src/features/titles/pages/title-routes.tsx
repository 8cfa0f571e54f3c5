import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import { type CivilDate, dateIn } from '../../../base/values/business-day.ts';
import { postedParameters } from '../../../console/list/filter.tsx';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { pageContext } from '../../../console/shell/page-context.ts';
import { actorOf, dateOfPath, idOfPath } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, STAFF } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { readTitleFindings } from '../../checks/findings.sql.ts';
import { readOwnSealOfMatch } from '../../matching/match-decisions.sql.ts';
import { readTitleMatches } from '../../matching/match-reads.sql.ts';
import { hasPayables } from '../../matching/payables/payable-state.sql.ts';
import { readLedgerDay } from '../../review/ledger-days.sql.ts';
import { readPayee } from '../../schedule/read-schedule.sql.ts';
import { readTitleDetail } from './title-detail.sql.ts';
import { TITLE_FILTER } from './title-filters.sql.ts';
import { parseTitleQuery, readTitleCount, readTitlePage, TITLE_PLACE } from './title-list.sql.ts';
import { TitlePageBody } from './title-page.tsx';
import { TitlesPage } from './titles-page.tsx';

const TITLES_A_PAGE = 50;

/** Routes for the titles of a day or of a range, and for one title. */
export function addTitleRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  const showTitles = async (
    request: FastifyRequest,
    reply: FastifyReply,
    date: CivilDate | null,
    source: unknown = request.query,
  ) => {
    const today = dateIn(parts.timeZone, parts.now?.() ?? new Date());
    const query = parseTitleQuery(source, date, pageContext(request, parts.timeZone).language);
    const { payeeOf } = query.filter;
    const [day, page, count, payee] = await Promise.all([
      date === null ? null : readLedgerDay(database, date, today),
      readTitlePage(database, { ...query, limit: TITLES_A_PAGE }),
      readTitleCount(database, query.filter, today),
      payeeOf === null ? null : readPayee(database, Number(payeeOf)),
    ]);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('titles.title'),
      active: '/titles',
      body: (
        <TitlesPage
          data={{ isPrivate: request.method === 'POST', date, day, query, payee, page, count }}
        />
      ),
    }));
  };

  for (const path of ['/titles', '/days/:date/titles']) {
    const dateOf = (request: FastifyRequest) =>
      path === '/titles' ? null : (dateOfPath(request) ?? undefined);
    server.get(path, forPeople(EVERYBODY), async (request, reply) => {
      const date = dateOf(request);
      return date === undefined ? reply.callNotFound() : showTitles(request, reply, date);
    });
    // The form of the list. Parameters without a tax identifier become an address, which can be kept and sent.
    server.post(path, forPeople(EVERYBODY), async (request, reply) => {
      const date = dateOf(request);
      if (date === undefined) return reply.callNotFound();
      const fields = { ...TITLE_FILTER, ...TITLE_PLACE };
      const { written, isPrivate } = postedParameters(fields, request.body);
      return isPrivate
        ? showTitles(request, reply, date, request.body)
        : reply.redirect(`?${new URLSearchParams(written)}`, 303);
    });
  }

  const showTitle = async (request: FastifyRequest, reply: FastifyReply, isRevealed: boolean) => {
    const id = idOfPath(request);
    const title = id === null ? null : await readTitleDetail(database, id);
    if (title === null) return reply.callNotFound();
    if (isRevealed) {
      // Before the title is shown, so that every access leaves an entry.
      await recordAudit(database.prisma, {
        actor: actorOf(request),
        action: 'title.reveal',
        date: title.acceptedDate,
        details: { titleId: title.id },
      });
    }
    const matches = (await hasPayables(database.prisma))
      ? await readTitleMatches(database, BigInt(title.id))
      : null;
    const ownDate = parts.fourEyes
      ? await readOwnSealOfMatch(database.prisma, BigInt(title.id), actorOf(request))
      : null;
    const findings = await readTitleFindings(database, BigInt(title.id));
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('title.title', { order: title.fields.order_uid ?? '' }),
      active: '/titles',
      body: <TitlePageBody {...{ context, title, matches, ownDate, findings, isRevealed }} />,
    }));
  };
  server.get('/titles/:id', forPeople(EVERYBODY), (request, reply) =>
    showTitle(request, reply, false),
  );
  server.post('/titles/:id', forPeople(STAFF), (request, reply) => showTitle(request, reply, true));
}
