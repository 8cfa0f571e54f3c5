import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type CivilDate, parseCivilDate } from '../../../base/values/business-day.ts';
import { type Column, ListTable } from '../../../console/list/columns.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { Field } from '../../../console/shell/layout.tsx';
import { textParameter, usePage } from '../../../console/shell/page-context.ts';
import { ActionForm, Author, Card, Disclosure, Submit } from '../../../console/shell/parts.tsx';
import { actorOf, idOfPath, requireReason } from '../../../console/shell/path-parameters.ts';
import { DECIDE, EVERYBODY, forPeople, mayUse } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import {
  type BusinessDayRule,
  FIRST_YEAR,
  type HolidayName,
  LAST_YEAR,
  nationalHolidays,
} from '../holidays.ts';
import { addHoliday, endHoliday, type OwnHoliday, readOwnHolidays } from '../own-holidays.ts';

interface Holiday {
  readonly date: CivilDate;
  readonly name: HolidayName | null;
  /** Null: a national holiday. */
  readonly own: OwnHoliday | null;
}

interface PageProps {
  readonly year: number;
  readonly rule: BusinessDayRule;
  readonly holidays: readonly Holiday[];
}

const COLUMNS: readonly Column<Holiday>[] = [
  {
    name: 'date',
    head: 'calendar.date',
    kind: 'date',
    value: ({ date }) => date,
    cell: ({ date }, { formats }) => formats.longDate(date),
    isHead: true,
  },
  {
    name: 'name',
    head: 'calendar.name',
    kind: 'text',
    value: ({ name, own }, { text }) =>
      name === null ? (own?.name ?? null) : text(`calendar.holidays.${name}`),
  },
  {
    name: 'by',
    head: 'calendar.by',
    kind: 'text',
    value: ({ own }, { text }) => own?.confirmedBy ?? text('calendar.national'),
    cell: ({ own }, { text, principal }) =>
      own !== null && (
        <>
          <Author name={own.confirmedBy} />
          {mayUse(principal?.role ?? 'viewer', 'POST', '/holidays') && (
            <Disclosure label={text('calendar.end')}>
              <ActionForm action={`/holidays/${own.id}/end`}>
                <Field label={text('matching.reason')}>
                  <input name="reason" required maxLength={1000} />
                </Field>
                <Submit class="primary">{text('calendar.end')}</Submit>
              </ActionForm>
            </Disclosure>
          )}
        </>
      ),
  },
];

/** The national and the own holidays of a year. */
function HolidaysPage({ year, rule, holidays }: PageProps) {
  const { text, principal } = usePage();
  return (
    <>
      <div>
        <h1>{text('calendar.title')}</h1>
        <p class="quiet">
          {text('calendar.intro')} {text(`calendar.rules.${rule}`)}
        </p>
      </div>
      <Card title={String(year)}>
        <nav class="pager" aria-label={text('calendar.years')}>
          {year > FIRST_YEAR && <a href={`/holidays?year=${year - 1}`}>← {year - 1}</a>}{' '}
          {year < LAST_YEAR && <a href={`/holidays?year=${year + 1}`}>{year + 1} →</a>}
        </nav>
        <ListTable label={text('calendar.title')} columns={COLUMNS} rows={holidays} />
      </Card>
      {mayUse(principal?.role ?? 'viewer', 'POST', '/holidays') && (
        <Card title={text('calendar.add')}>
          <p class="quiet">{text('calendar.addHelp')}</p>
          <ActionForm action="/holidays" class="filters">
            <Field label={text('calendar.date')}>
              <input type="date" name="date" required />
            </Field>
            <Field label={text('calendar.name')}>
              <input name="name" required maxLength={100} />
            </Field>
            <Submit class="primary">{text('calendar.add')}</Submit>
          </ActionForm>
        </Card>
      )}
    </>
  );
}

/** The routes of the business days. */
export function addHolidayRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, fourEyes } = parts;
  const rule = parts.businessDayRule ?? 'following';
  const decisionOf = (request: FastifyRequest, reason: string) => ({
    by: actorOf(request),
    reason,
    fourEyes,
  });

  server.get('/holidays', forPeople(EVERYBODY), async (request, reply) => {
    const asked = Number(textParameter(request.query, 'year') ?? todayOf(parts).slice(0, 4));
    const year =
      Number.isInteger(asked) && asked >= FIRST_YEAR && asked <= LAST_YEAR
        ? asked
        : Number(todayOf(parts).slice(0, 4));
    const own = await readOwnHolidays(database, year);
    const holidays = [
      ...nationalHolidays(year).map((holiday) => ({ ...holiday, own: null })),
      ...own.map((holiday) => ({ date: holiday.date, name: null, own: holiday })),
    ].sort((a, b) => a.date.localeCompare(b.date));
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('calendar.title'),
      active: '/holidays',
      body: <HolidaysPage {...{ year, rule, holidays }} />,
    }));
  });

  // An administrator decides nothing that matches titles, and a team may have no operator.
  server.post('/holidays', forPeople(DECIDE), async (request, reply) => {
    const date = parseCivilDate(textParameter(request.body, 'date') ?? '');
    const name = textParameter(request.body, 'name') ?? '';
    await addHoliday(database, date, decisionOf(request, name), rule);
    return reply.redirect(`/holidays?year=${date?.slice(0, 4)}&notice=holiday_added`, 303);
  });

  server.post('/holidays/:id/end', forPeople(DECIDE), async (request, reply) => {
    const id = idOfPath(request);
    if (id === null) return reply.callNotFound();
    await endHoliday(database, id, decisionOf(request, requireReason(request.body)), rule);
    return reply.redirect('/holidays?notice=holiday_ended', 303);
  });
}
