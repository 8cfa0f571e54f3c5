import { Type } from 'typebox';
import type { CivilDate } from '../../base/values/business-day.ts';
import { id, ledgerDate } from '../../console/api/schema-parts.ts';
import { declareAction, declarePage, reason } from '../../console/declare.tsx';
import { type Column, ListTable } from '../../console/list/columns.tsx';
import { type ConsoleParts, type Feature, todayOf } from '../../console/shell/console-parts.ts';
import { authorText, Card } from '../../console/shell/parts.tsx';
import { DECIDE } from '../../console/shell/route-access.ts';
import {
  type BusinessDayRule,
  FIRST_YEAR,
  type HolidayName,
  LAST_YEAR,
  nationalHolidays,
} from './business-days.sql.ts';
import { addHoliday, endHoliday, type OwnHoliday, readOwnHolidays } from './own-holidays.ts';

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

const ruleOf = ({ businessDayRule = 'following' }: Pick<ConsoleParts, 'businessDayRule'>) =>
  businessDayRule;
const MAX_NAME = 100;

// An administrator decides nothing that matches titles, and a team may have no operator.
const ADD_HOLIDAY = declareAction({
  path: '/holidays',
  who: DECIDE,
  input: { date: ledgerDate, name: Type.String({ maxLength: MAX_NAME }) },
  fields: { date: { label: 'calendar.date' }, name: { label: 'calendar.name' } },
  deed: ({ database, fourEyes, ...parts }, { date, name }, by) =>
    addHoliday(database, date, { by, reason: name, fourEyes }, ruleOf(parts)),
  next: ({ date }) => `/holidays?year=${date.slice(0, 4)}`,
  notice: 'holiday_added',
});

const END_HOLIDAY = declareAction({
  path: '/holidays/:id/end',
  who: DECIDE,
  input: { id, reason },
  deed: ({ database, fourEyes, ...parts }, input, by) =>
    endHoliday(database, BigInt(input.id), { by, reason: input.reason, fourEyes }, ruleOf(parts)),
  next: () => '/holidays',
  notice: 'holiday_ended',
});

const COLUMNS: readonly Column<Holiday>[] = [
  {
    name: 'date',
    head: 'calendar.date',
    kind: 'date',
    cell: ({ date }, { formats }) => formats.longDate(date),
    isHead: true,
  },
  {
    name: 'name',
    head: 'calendar.name',
    value: ({ name, own }, { text }) =>
      name === null ? (own?.name ?? null) : text(`calendar.holidays.${name}`),
  },
  {
    name: 'by',
    head: 'calendar.by',
    value: ({ own }, { text }) => own?.confirmedBy ?? text('calendar.national'),
    cell: ({ own }, { text }) =>
      own === null ? (
        text('calendar.national')
      ) : (
        <>
          {authorText(text, own.confirmedBy)}
          <END_HOLIDAY.Form
            values={{ id: own.id }}
            button={text('calendar.end')}
            look="primary"
            reason={text('matching.reason')}
            isFolded
          />
        </>
      ),
  },
];

const HOLIDAYS = declarePage({
  path: '/holidays',
  active: '/holidays',
  input: { year: Type.Optional(Type.String()) },
  read: async (parts, input): Promise<PageProps> => {
    const asked = Number(input.year);
    const isKnown = Number.isInteger(asked) && asked >= FIRST_YEAR && asked <= LAST_YEAR;
    const year = isKnown ? asked : Number(todayOf(parts).slice(0, 4));
    const own = await readOwnHolidays(parts.database, year);
    const holidays = [
      ...nationalHolidays(year).map((holiday) => ({ ...holiday, own: null })),
      ...own.map((holiday) => ({ date: holiday.date, name: null, own: holiday })),
    ].sort((a, b) => a.date.localeCompare(b.date));
    return { year, rule: ruleOf(parts), holidays };
  },
  title: (context) => context.text('calendar.title'),
  body: ({ year, rule, holidays }, page) => {
    const { text } = page;
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
        {ADD_HOLIDAY.isOffered(page) && (
          <Card title={text('calendar.add')}>
            <p class="quiet">{text('calendar.addHelp')}</p>
            <ADD_HOLIDAY.Form button={text('calendar.add')} look="primary" class="filters" />
          </Card>
        )}
      </>
    );
  },
});

export const calendar: Feature = {
  name: 'calendar',
  pages: [HOLIDAYS],
  actions: [ADD_HOLIDAY, END_HOLIDAY],
};
