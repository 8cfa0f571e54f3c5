import type { Database } from '../../base/database/database.ts';
import { StagingUnavailableError } from '../../base/runtime/errors.ts';
import { amountText, dateText, type Language, listDates, textOf } from '../../base/texts/texts.ts';
import { type CivilDate, dateIn, lastClosedDate } from '../../base/values/business-day.ts';
import type { AlertPolicy } from '../../console/alert-entry.ts';
import type { DayLook } from '../../console/shell/parts.tsx';
import { readCheckpoint } from '../../core/ledger/pull-requests.sql.ts';
import { ALERTS, type Alert, pageOf, readAlertsNow, setLockTimeout } from '../alerts/alerts.sql.ts';
import { readOpenReceipts } from '../bookings/receipts.sql.ts';
import { readWaitingDays, type WaitingDays } from '../bookings/release.sql.ts';
import {
  NEEDS,
  type Need,
  readMissingDates,
  readNeeds,
  readOpenCounts,
  readYesterday,
} from '../review/ledger-days.sql.ts';
import { isSignable } from '../review/obstacles.sql.ts';

/**
 * What a person has to do, the greatest risk first.
 * - `page`: where it is done; null: the page of each date
 * - `isOpen`: whether the ledger needs a person until it is done, see `needsPerson`
 * - `look`: its colour and shape on the start page
 */
export const TASKS = {
  urgent_breaks: { page: '/breaks?urgency=urgent', isOpen: true, look: 'failed' },
  account_changes: { page: '/account-changes', isOpen: true, look: 'failed' },
  refused_accounts: { page: '/account-changes?state=refused', isOpen: false, look: 'failed' },
  held: { page: null, isOpen: true, look: 'held' },
  failed: { page: '/alerts', isOpen: true, look: 'failed' },
  paused: { page: '/backfills', isOpen: true, look: 'pending' },
  missing: { page: null, isOpen: false, look: 'pending' },
  attention: { page: null, isOpen: true, look: 'attention' },
  receipts: { page: '/booking-lines', isOpen: true, look: 'attention' },
  breaks: { page: '/breaks?urgency=other', isOpen: true, look: 'attention' },
  unmapped_companies: { page: '/companies', isOpen: true, look: 'attention' },
  restated: { page: null, isOpen: true, look: 'restated' },
  equal_titles: { page: '/findings?check=equal_in_day', isOpen: false, look: 'attention' },
  findings: { page: '/findings', isOpen: false, look: 'attention' },
  sign_off: { page: '/sign-offs', isOpen: false, look: 'reconciled' },
  waiting: { page: '/booking-lines', isOpen: false, look: 'held' },
  alert: { page: '/alerts', isOpen: true, look: 'attention' },
  providers_locked: { page: '/providers', isOpen: true, look: 'pending' },
} as const satisfies Readonly<
  Record<string, { page: string | null; isOpen: boolean; look: DayLook }>
>;
export type TaskKey = keyof typeof TASKS;

export interface Task {
  readonly key: TaskKey;
  readonly count: number;
  /** Original values, as exact decimal text; null: no money is concerned, or it is not known. */
  readonly value: string | null;
  /** In date order; empty where a page lists them. */
  readonly dates: readonly CivilDate[];
  readonly href: string;
  /** Of `account_changes` and `waiting`: titles that wait. */
  readonly titles?: number;
  readonly fault?: WaitingDays['fault'];
  /** Of `alert` and `failed`: the first alert of its kind. */
  readonly alert?: Alert;
}

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
  const [
    checkpoint,
    needs,
    counted,
    yesterday,
    missing,
    waiting,
    receipts,
    alerts,
    providerAlerts,
  ] = await Promise.all([
    readCheckpoint(database),
    // Other tasks name the days that nobody can sign off.
    readNeeds(database, today, isSignable(today, policy, 'all')),
    readOpenCounts(database),
    readYesterday(database, closed),
    readMissingDates(database, closed),
    readWaitingDays(database, policy),
    readOpenReceipts(prisma),
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
  const needOf = (need: Need) => needs.find((known) => known.need === need);
  const { accountChanges, unmappedCompanies } = counted;
  const task = (
    key: TaskKey,
    count: number,
    value: string | null,
    more: Partial<Task> = {},
  ): Task[] => {
    const { dates = [] } = more;
    const href = TASKS[key].page ?? (dates[0] === undefined ? '/' : `/days/${dates[0]}`);
    return count === 0 ? [] : [{ key, count, value, dates, href, ...more }];
  };
  const alertTasks = (key: 'alert' | 'failed', isTask: (alert: Alert) => boolean): Task[] => {
    const selected = [...alerts, ...(providerAlerts ?? [])].filter(isTask);
    return [...new Set(selected.map(({ kind }) => kind))].flatMap((kind) => {
      const [alert, ...rest] = selected.filter((known) => known.kind === kind);
      if (alert === undefined) return [];
      return task(key, 1 + rest.length, null, { alert, href: pageOf(kind, alert.date) });
    });
  };
  const ofDays = (need: Exclude<Need, 'failed'>) => {
    const { days = 0, originalValueSum = null, dates = [] } = needOf(need) ?? {};
    return task(need, days, originalValueSum, TASKS[need].page === null ? { dates } : {});
  };
  /** In the order of `TASKS`. */
  const tasks: readonly Task[] = [
    ...task('urgent_breaks', counted.urgentBreaks, counted.urgentValue),
    ...task('account_changes', accountChanges, counted.heldValue, { titles: counted.heldTitles }),
    ...task('refused_accounts', counted.refusedTitles, counted.refusedValue),
    ...ofDays('held'),
    ...alertTasks('failed', ({ kind }) => kind === 'pull_failed'),
    ...task('paused', checkpoint?.pause ? 1 : 0, null),
    ...task('missing', missing.length, null, { dates: missing }),
    ...ofDays('attention'),
    ...task('receipts', receipts.receipts, receipts.value),
    ...task('breaks', counted.otherBreaks, counted.otherValue),
    ...task('unmapped_companies', unmappedCompanies, null),
    ...ofDays('restated'),
    ...task('equal_titles', counted.equalTitles, counted.equalValue),
    ...task('findings', counted.findings, counted.findingsValue),
    ...ofDays('sign_off'),
    ...waiting.flatMap(({ fault, days, titles, value }) =>
      task('waiting', days, value, { fault, titles }),
    ),
    ...alertTasks('alert', ({ kind }) => kind !== 'pull_failed' && ALERTS[kind].hasTask !== true),
    ...task('providers_locked', providerAlerts === null ? 1 : 0, null),
  ];
  return {
    /** The first date of the ledger; null: the ledger is empty. */
    startDate: checkpoint?.startDate ?? null,
    /** Null until the first date is reconciled. */
    lastReconciledDate: checkpoint?.lastReconciledDate ?? null,
    /** Number of closed dates without data. */
    lagDays: missing.length + (needOf('failed')?.days ?? 0),
    needs: Object.fromEntries(NEEDS.map((need) => [need, needOf(need)?.days ?? 0])),
    /** Changed bank accounts without a decision. */
    accountChanges,
    /** Companies of the ERP whose buyers a person has to confirm, after the newest run of the matching. */
    unmappedCompanies,
    yesterday,
    tasks,
  };
}

/** Returns whether an item needs a person. Days that only wait for a sign-off do not count. */
export function needsPerson({ tasks }: OpenItems): boolean {
  return tasks.some(({ key }) => TASKS[key].isOpen);
}

/** The state of the ledger in words, the same in the console, in `conciliation status`, in the API and in the digest. */
export function headlineOf(items: OpenItems, language: Language) {
  const text = textOf(language);
  const { startDate, yesterday, tasks } = items;
  const { date, state, titles, originalValueSum, blocked } = yesterday;
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
          : isEmpty(state)
            ? text(`headline.empty_day.${state}`, { date: dateText(date, language) })
            : text(`headline.yesterday.${state}`, {
                date: dateText(date, language),
                titles,
                value: moneyText(originalValueSum, language),
              }) + (blocked === 0 ? '' : ` ${text('headline.blocked', { count: blocked })}`),
    /** The tasks, the greatest risk first. */
    lines: lines.length === 0 && startDate !== null ? [text('headline.nothing')] : lines,
  };
}

/** Whether the day has no titles to count. */
const EMPTY = ['absent', 'pending', 'failed', 'first_held'] as const;
const isEmpty = (state: string): state is (typeof EMPTY)[number] =>
  EMPTY.some((known) => known === state);

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
