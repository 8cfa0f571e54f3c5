import { type Static, Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import { amountSum } from '../../base/database/expressions.sql.ts';
import { StagingUnavailableError } from '../../base/runtime/errors.ts';
import { amountText, dateText, type Language, listDates, textOf } from '../../base/texts/texts.ts';
import { type CivilDate, dateIn, lastClosedDate } from '../../base/values/business-day.ts';
import type { AlertPolicy } from '../../console/alert-entry.ts';
import { count, date, orNull, words } from '../../console/api/schema-parts.ts';
import { type DayLook, lookOf } from '../../console/shell/parts.tsx';
import { readCheckpoint } from '../../core/ledger/pull-requests.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { OPEN_HOLDS } from '../accounts/payment-holds.sql.ts';
import {
  ALERT_KINDS,
  ALERTS,
  type Alert,
  pageOf,
  readAlertsNow,
  setLockTimeout,
} from '../alerts/alerts.sql.ts';
import { RECEIPT_QUESTIONS } from '../bookings/receipts.sql.ts';
import { readWaitingDays, type WaitingDays } from '../bookings/release.sql.ts';
import { OPEN_BREAKS } from '../matching/break-list.sql.ts';
import { readLedgerDay } from '../review/ledger-days.sql.ts';
import { isSignable, readObstacles } from '../review/obstacles.sql.ts';

interface TaskEntry {
  /** Its colour and shape on the start page. */
  readonly look: DayLook;
  /** Where it is done. Absent: on the page of each date. */
  readonly page?: string;
  /** The route of the decision. A person who may not use the route, or of a task without one, reads. */
  readonly decision?: string;
  /** Whether the ledger needs no person until it is done, see `needsPerson`. */
  readonly isCalm?: true;
}

/** What a person has to do, the greatest risk first. */
const ENTRIES = {
  urgent_breaks: { look: 'failed', page: '/breaks?urgency=urgent', decision: '/breaks/resolve' },
  account_changes: {
    look: 'failed',
    page: '/account-changes',
    decision: '/account-changes/decide',
  },
  refused_accounts: { look: 'failed', page: '/account-changes?state=refused', isCalm: true },
  held: { look: 'held', decision: '/pulls/:id/release' },
  failed: { look: 'failed', page: '/alerts' },
  paused: { look: 'pending', page: '/backfills', decision: '/resume-schedule' },
  missing: { look: 'pending', isCalm: true },
  attention: { look: 'attention', decision: '/findings' },
  receipts: { look: 'attention', page: '/booking-lines' },
  breaks: { look: 'attention', page: '/breaks?urgency=other', decision: '/breaks/resolve' },
  unmapped_companies: { look: 'attention', page: '/companies', decision: '/companies' },
  restated: { look: 'restated', decision: '/sign-offs' },
  equal_titles: {
    look: 'attention',
    page: '/findings?check=equal_in_day',
    decision: '/findings',
    isCalm: true,
  },
  findings: { look: 'attention', page: '/findings', decision: '/findings', isCalm: true },
  sign_off: { look: 'reconciled', page: '/sign-offs', decision: '/sign-offs', isCalm: true },
  waiting: { look: 'held', page: '/booking-lines', isCalm: true },
  alert: { look: 'attention', page: '/alerts' },
  providers_locked: { look: 'pending', page: '/providers' },
} as const satisfies Readonly<Record<string, TaskEntry>>;
export type TaskKey = keyof typeof ENTRIES;
export const TASKS: Readonly<Record<TaskKey, TaskEntry>> = ENTRIES;
const TASK_KEYS = Object.keys(ENTRIES) as TaskKey[];

export const Task = Type.Object({
  key: words(TASK_KEYS),
  count,
  value: orNull('string', {
    description: 'Original values, exact decimal. Null: no money is concerned, or it is not known.',
  }),
  dates: Type.Array(date, { description: 'In order. Empty: a page lists them.' }),
  href: Type.String({ description: 'The page of the console where it is done.' }),
});
export interface Task extends Readonly<Static<typeof Task>> {
  /** Of `account_changes` and `waiting`: titles that wait. */
  readonly titles?: number;
  readonly fault?: WaitingDays['fault'];
  /** Of `alert` and `failed`: the first alert of its kind. */
  readonly alert?: Pick<Alert, 'kind' | 'message' | 'messagePt'>;
}

/** What waits: a task without what its entry says. A count of 0: nothing. */
type Found = Pick<Task, 'key' | 'count'> & Partial<Task>;

/**
 * Each reads what waits of one subject, as rows with the members of `Found`.
 * @param today no later day counts
 * @param closed the last date that is over
 */
const SUBJECTS: readonly ((
  today: CivilDate,
  closed: CivilDate,
  policy: AlertPolicy,
) => Prisma.Sql)[] = [
  // Days, a restated one perhaps for two reasons. Of the first two, it is not known which value is concerned. The days
  // that nobody can sign off are those of other tasks.
  (today, _, policy) => Prisma.sql`
    SELECT key, count(*)::int AS count, array_agg(date::text ORDER BY date) AS dates,
           CASE WHEN key NOT IN ('restated', 'attention') THEN (${amountSum(Prisma.sql`original_value_sum`)})::text END AS value
    FROM conciliation.day CROSS JOIN LATERAL (VALUES
      (state),
      (CASE WHEN restated_after_sign_off THEN 'restated' WHEN ${isSignable(today, policy, 'all')} THEN 'sign_off' END)
    ) AS reason (key)
    WHERE date <= ${today}::date AND key IN ('restated', 'attention', 'held', 'sign_off') GROUP BY key`,
  // The closed dates from the start on without data.
  (_, closed) => Prisma.sql`
    SELECT CASE WHEN state = 'failed' THEN 'failed' ELSE 'missing' END AS key, count(*)::int AS count,
           array_agg(wanted.date::date::text ORDER BY wanted.date) AS dates
    FROM conciliation.checkpoint
    CROSS JOIN generate_series(start_date::timestamp, ${closed}::timestamp, interval '1 day') AS wanted (date)
    LEFT JOIN conciliation.day ON day.date = wanted.date::date
    WHERE coalesce(day.state, 'pending') IN ('pending', 'failed') GROUP BY 1`,
  () => Prisma.sql`
    SELECT CASE WHEN severity > 1 THEN 'urgent_breaks' ELSE 'breaks' END AS key, count(*)::int AS count,
           (${amountSum(Prisma.sql`abs(value)`)})::text AS value
    FROM ${OPEN_BREAKS} AS broken GROUP BY 1`,
  () => Prisma.sql`
    SELECT 'unmapped_companies' AS key, unmapped_companies AS count
    FROM conciliation.match_run ORDER BY id DESC LIMIT 1`,
  () => Prisma.sql`
    SELECT 'receipts' AS key, coalesce(sum(receipts), 0)::int AS count, sum(value::numeric)::text AS value
    FROM (${RECEIPT_QUESTIONS}) AS question`,
  () => Prisma.sql`
    WITH held AS (
      SELECT min(state) AS state, original_value FROM (${OPEN_HOLDS}) AS hold GROUP BY title_id, original_value
    ), counted AS (
      SELECT key, count(held.state)::int AS titles, (${amountSum(Prisma.sql`original_value`)})::text AS value
      FROM (VALUES ('account_changes', 'open'), ('refused_accounts', 'refused')) AS task (key, state)
      LEFT JOIN held ON held.state = task.state GROUP BY key
    )
    SELECT key, titles, value, CASE key WHEN 'refused_accounts' THEN titles ELSE (
             SELECT count(*)::int FROM conciliation.account_change WHERE state = 'open') END AS count
    FROM counted`,
  () => Prisma.sql`
    SELECT CASE code WHEN 'equal_in_day' THEN 'equal_titles' ELSE 'findings' END AS key, count(*)::int AS count,
           (${amountSum(Prisma.sql`original_value`)})::text AS value
    FROM conciliation.check_finding JOIN conciliation.title ON title.id = title_id
    WHERE closed_at IS NULL AND resolved_at IS NULL AND severity = 'info' GROUP BY 1`,
];

/** The items that wait for a person, over the whole ledger. */
export type OpenItems = Awaited<ReturnType<typeof readOpenItems>>;

/** A page does not wait for the ERP's lock on `provider`. */
const PROVIDER_LOCK_TIMEOUT = '250ms';

/** Reads the open items of the console's first page, of `conciliation status`, of the digest and of the API. */
export async function readOpenItems(
  database: Database,
  { now, policy }: { readonly now: Date; readonly policy: AlertPolicy },
) {
  const { prisma } = database;
  const closed = lastClosedDate(policy.timeZone, now);
  const today = dateIn(policy.timeZone, now);
  const [checkpoint, yesterday, subjects, waiting, alerts, providerAlerts] = await Promise.all([
    readCheckpoint(database),
    readYesterday(database, closed),
    Promise.all(SUBJECTS.map((read) => prisma.$queryRaw<Found[]>(read(today, closed, policy)))),
    readWaitingDays(database, policy),
    readAlertsNow(prisma, now, policy, 'ledger'),
    prisma
      .$transaction(async (tx) => {
        await setLockTimeout(tx, PROVIDER_LOCK_TIMEOUT);
        return readAlertsNow(tx, now, policy, 'providers');
      })
      .catch((error: unknown) => {
        if (error instanceof StagingUnavailableError) return null;
        throw error;
      }),
  ]);
  const counted = subjects.flat();
  const withoutData = counted.filter(({ key }) => key === 'missing' || key === 'failed');
  const found: Found[] = [
    // The alerts name the dates that failed, with the cause.
    ...counted.filter(({ key }) => key !== 'failed'),
    ...waiting.map(
      ({ days: count, dates: _, ...days }) => ({ key: 'waiting', count, ...days }) as const,
    ),
    { key: 'paused', count: checkpoint?.pause ? 1 : 0 },
    { key: 'providers_locked', count: providerAlerts === null ? 1 : 0 },
    ...alertTasks([...alerts, ...(providerAlerts ?? [])]),
  ];
  const tasks = found
    .filter((task) => task.count > 0)
    .map(({ value = null, dates, ...task }): Task => {
      const { page } = TASKS[task.key];
      const named = page === undefined ? (dates ?? []) : [];
      const href = page ?? (named[0] === undefined ? '/' : `/days/${named[0]}`);
      return { value, dates: named, href, ...task };
    });
  return {
    /** The first date of the ledger; null: the ledger is empty. */
    startDate: checkpoint?.startDate ?? null,
    /** Null until the first date is reconciled. */
    lastReconciledDate: checkpoint?.lastReconciledDate ?? null,
    /** Number of closed dates without data; null: the ledger is empty. */
    lagDays: checkpoint && withoutData.reduce((sum, { count }) => sum + count, 0),
    yesterday,
    /** The greatest risk first. */
    tasks: tasks.toSorted((a, b) => TASK_KEYS.indexOf(a.key) - TASK_KEYS.indexOf(b.key)),
  };
}

/** One for each kind that no other task counts. */
const alertTasks = (alerts: readonly Alert[]): Found[] =>
  ALERT_KINDS.filter((kind) => ALERTS[kind].hasTask !== true).flatMap((kind) => {
    const [alert, ...more] = alerts.filter((known) => known.kind === kind);
    if (alert === undefined) return [];
    const { message, messagePt, date } = alert;
    return {
      key: kind === 'pull_failed' ? 'failed' : 'alert',
      count: 1 + more.length,
      alert: { kind, message, messagePt },
      href: pageOf(kind, date),
    };
  });

/** The last date that is over. */
async function readYesterday(database: Database, date: CivilDate) {
  const [day, obstacles] = await Promise.all([
    readLedgerDay(database, date, date),
    readObstacles(database.prisma, [date], {}, ['payment_held']),
  ]);
  const look = lookOf(day);
  return {
    date,
    /** first_held: no response was merged yet. */
    look: look === 'held' && day?.contentDigest === null ? ('first_held' as const) : look,
    titles: day?.titles ?? 0,
    originalValueSum: day?.sums.original_value ?? '0',
    /** Titles that are not to be paid because of their bank account. */
    blocked: (obstacles.get(date) ?? []).reduce((sum, { found }) => sum + (found ?? 0), 0),
  };
}

/** Returns whether an item needs a person. Days that only wait for a sign-off do not count. */
export function needsPerson({ tasks }: OpenItems): boolean {
  return tasks.some(({ key }) => TASKS[key].isCalm !== true);
}

/** The state of the ledger in words, the same in the console, in `conciliation status`, in the API and in the digest. */
export function headlineOf(items: OpenItems, language: Language) {
  const text = textOf(language);
  const { startDate, yesterday, tasks } = items;
  const { date, look, titles, originalValueSum, blocked } = yesterday;
  const lines = tasks.map((task) =>
    [
      taskText(task, language),
      ...(task.value === null ? [] : [moneyText(task.value, language)]),
      ...(task.dates.length === 0 ? [] : [listDates(task.dates, language)]),
    ].join(' · '),
  );
  return {
    /** Whether nothing waits for a person. */
    inOrder: startDate !== null && startDate <= date && tasks.length === 0,
    /** The last date that is over. */
    title:
      startDate === null
        ? text('headline.empty')
        : startDate > date
          ? text('headline.begins', { start: dateText(startDate, language) })
          : text('headline.yesterday', {
              look,
              date: dateText(date, language),
              titles,
              value: moneyText(originalValueSum, language),
            }) + (blocked === 0 ? '' : ` ${text('headline.blocked', { count: blocked })}`),
    /** The tasks, the greatest risk first. */
    lines: lines.length === 0 && startDate !== null ? [text('headline.nothing')] : lines,
  };
}

/** A task without its value and its dates. */
export function taskText(task: Task, language: Language): string {
  const { key, count, titles = 0, fault, alert } = task;
  const text = textOf(language);
  if (alert !== undefined) {
    const message = language === 'en' ? alert.message : alert.messagePt;
    const more = count === 1 ? '' : `, ${text('days.more', { count: count - 1 })}`;
    return `${text(`alerts.kinds.${alert.kind}`)}: ${message}${more}`;
  }
  const reason = text(`bookings.waitingFor.${fault ?? 'none'}`);
  const values = { count, titles, reason };
  return text(`tasks.counted.${key as Exclude<TaskKey, 'alert' | 'failed'>}`, values);
}

/** Reads a decimal as text, so that no digit is lost. */
const CENTS = new Intl.NumberFormat('en', { useGrouping: false, maximumFractionDigits: 2 });

/**
 * In whole cents, and with `≈` where the amount has digits beyond: the pages that the tasks lead to show all of them.
 * The interface has no field for the currency: every amount is in reais.
 */
export function moneyText(value: string, language: Language): string {
  const exact = amountText(value, language);
  const shown = amountText(CENTS.format(value as `${number}`), language);
  return `${shown === exact ? '' : '≈ '}R$ ${shown}`;
}
