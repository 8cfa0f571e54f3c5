import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import { dateIn, parseCivilDate } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { pageContext, textParameter } from '../../../console/shell/page-context.ts';
import { pagingOf } from '../../../console/shell/paging.tsx';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, STAFF } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { dueRangeParameters } from '../due-range.ts';
import { readSchedule } from '../read-schedule.sql.ts';
import { scheduleFormat, sendScheduleFile } from '../schedule-file.ts';
import { SchedulePage, spanOf } from './schedule-page.tsx';

const GROUPS_A_PAGE = 50;

/** Routes of the payment schedule. */
export function addScheduleRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, timeZone } = parts;

  const show = async (request: FastifyRequest, reply: FastifyReply, isRevealed: boolean) => {
    const today = dateIn(timeZone, parts.now?.() ?? new Date());
    const wanted = textParameter(request.query, 'date');
    const date = wanted === null ? today : parseCivilDate(wanted);
    const { view, range } = spanOf(textParameter(request.query, 'view'), date ?? today);
    const read = (offset: number) =>
      readSchedule(database, range, { offset, limit: GROUPS_A_PAGE }, ['original_value']);
    const asked = pagingOf(request.query, 'page', Number.MAX_SAFE_INTEGER, GROUPS_A_PAGE);
    let schedule = await read(asked.offset);
    const paging = pagingOf(request.query, 'page', schedule.groupCount, GROUPS_A_PAGE);
    if (paging.page !== asked.page) schedule = await read(paging.offset);
    if (isRevealed) {
      // Before the page is shown, so that every access leaves an entry.
      await recordAudit(database.prisma, {
        actor: actorOf(request),
        action: 'schedule.reveal',
        details: { dueFrom: range.from, dueTo: range.to, page: paging.page },
      });
    }
    const data = {
      view,
      date: date ?? today,
      today,
      isDateBad: date === null,
      range,
      schedule,
      paging,
      isRevealed,
      isMasked: !maySeePersonalData(request.principal?.role ?? 'viewer'),
    };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('schedule.title'),
      active: '/schedule',
      body: <SchedulePage data={data} />,
    }));
  };
  server.get('/schedule', forPeople(EVERYBODY), (request, reply) => show(request, reply, false));
  server.post('/schedule', forPeople(STAFF), (request, reply) => show(request, reply, true));

  server.post('/schedule/export', forPeople(EVERYBODY), (request, reply) => {
    return sendScheduleFile(reply, parts, request.principal, {
      range: dueRangeParameters(request.body),
      format: scheduleFormat(request.body),
      locale: pageContext(request, timeZone).language,
    });
  });
}
