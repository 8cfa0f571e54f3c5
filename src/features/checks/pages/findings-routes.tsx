import type { FastifyInstance } from 'fastify';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { pagingOf } from '../../../console/shell/paging.tsx';
import { actorOf, requireReason } from '../../../console/shell/path-parameters.ts';
import { DECIDE, EVERYBODY, forPeople } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import {
  countFindings,
  readFindings,
  readOpenFindingGroups,
  resolveFindings,
} from '../findings.sql.ts';
import { findingFilter, findingsHref } from './finding-address.ts';
import { FindingsPage } from './findings-page.tsx';

const FINDINGS_A_PAGE = 50;

/** Routes of the findings of the checks. */
export function addFindingsRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  server.get('/findings', forPeople(EVERYBODY), async (request, reply) => {
    const filter = findingFilter(request.query);
    const [total, groups] = await Promise.all([
      countFindings(database, filter),
      readOpenFindingGroups(database, filter),
    ]);
    const paging = pagingOf(request.query, 'page', total, FINDINGS_A_PAGE);
    const findings = await readFindings(database, filter, paging);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('findings.title'),
      active: '/sign-offs',
      body: <FindingsPage data={{ filter, groups, findings, paging }} />,
    }));
  });

  server.post('/findings', forPeople(DECIDE), async (request, reply) => {
    const { date, code } = findingFilter(request.body);
    const newestId = idOf(request.body, 'newestId');
    if (date === null || code === null || newestId === null) return reply.callNotFound();
    const titleId = idOf(request.body, 'titleId');
    await resolveFindings(
      database,
      { date, code, newestId, titleId },
      { by: actorOf(request), reason: requireReason(request.body) },
    );
    const query = new URLSearchParams({ notice: 'findings_resolved' });
    return titleId === null
      ? reply.redirect(`${findingsHref({ date })}&${query}`, 303)
      : reply.redirect(`/titles/${titleId}?${query}`, 303);
  });
}

function idOf(body: unknown, name: string): bigint | null {
  const text = textParameter(body, name) ?? '';
  return /^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : null;
}
