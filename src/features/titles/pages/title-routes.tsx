import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { actorOf, idOfPath } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, STAFF } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { readTitleFindings } from '../../checks/findings.sql.ts';
import { readOwnSealOfMatch } from '../../matching/match-decisions.sql.ts';
import { readTitleMatches } from '../../matching/match-reads.sql.ts';
import { hasPayables } from '../../matching/payables/payable-state.sql.ts';
import { readTitleDetail } from './title-detail.sql.ts';
import { TitlePageBody } from './title-page.tsx';

/** Routes for one title. */
export function addTitleRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

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
