import type { FastifyInstance } from 'fastify';
import { dateIn, lastClosedDate, parseCivilDate } from '../../../base/values/business-day.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { EVERYBODY, forPeople } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { readLedgerDays, readLedgerRange } from '../../review/ledger-days.sql.ts';
import { readOpenItems } from '../open-items.ts';
import { DaysPage } from './days-page.tsx';

const MONTHS_SHOWN = 3;

/** Routes of the start page. */
export function addDaysRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;
  server.get('/', forPeople(EVERYBODY), async (request, reply) => {
    const now = parts.now?.() ?? new Date();
    const today = dateIn(parts.timeZone, now);
    const closedDate = lastClosedDate(parts.timeZone, now);
    const range = await readLedgerRange(database, today);
    const newest = (range?.to ?? closedDate).slice(0, 7);
    const wanted = parseMonth(textParameter(request.query, 'to'));
    const last = wanted === null || wanted > newest ? newest : wanted;
    const begin = (range?.from ?? closedDate).slice(0, 7);
    const months = Array.from({ length: MONTHS_SHOWN }, (_, index) =>
      addMonths(last, index + 1 - MONTHS_SHOWN),
    ).filter((month) => month >= begin || month === last);
    const first = months[0] ?? last;
    const [items, days] = await Promise.all([
      readOpenItems(database, { now, policy: parts }),
      readLedgerDays(
        database,
        { from: monthStart(first), to: monthStart(addMonths(last, 1)) },
        today,
      ),
    ]);
    const data = {
      items,
      months,
      days: days.filter((day) => day.date.slice(0, 7) <= last),
      earlier:
        range !== null && range.from.slice(0, 7) < first ? addMonths(last, -MONTHS_SHOWN) : null,
      later: last < newest ? addMonths(last, MONTHS_SHOWN) : null,
    };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('days.title'),
      active: '/',
      body: <DaysPage data={data} />,
    }));
  });
}

/** Returns `YYYY-MM`, or null. Months near the first and last dates of the calendar are refused. */
function parseMonth(text: string | null): string | null {
  const isMonth = text !== null && parseCivilDate(`${text}-01`) !== null;
  return isMonth && text > '1900' && text < '9000' ? text : null;
}

function addMonths(month: string, count: number): string {
  const index = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1 + count;
  const year = String(Math.floor(index / 12)).padStart(4, '0');
  return `${year}-${String((index % 12) + 1).padStart(2, '0')}`;
}

function monthStart(month: string) {
  const date = parseCivilDate(`${month}-01`);
  if (date === null) throw new RangeError(`not a month: ${month}`);
  return date;
}
