import type { CivilDate } from '../../../base/values/business-day.ts';
import type { CheckCode } from '../../../base/values/checks.ts';
import type { HoldReason } from '../../../core/ledger/day-state.ts';
import {
  type HoldDetail,
  implausibleText,
  isImplausible,
} from '../../../core/merge/plausibility.ts';
import type { Alert } from './alert.ts';
import {
  type AlertDate,
  ANY_CAUSE,
  alertsByCause,
  inBoth,
  sumOf,
  type Words,
} from './dated-alerts.ts';

export interface HeldDay extends AlertDate {
  readonly pullId: bigint;
  /** Current titles of the day. */
  readonly titles: number;
  /** Titles of the held response, including rejected ones. */
  readonly responseTitles: number;
  readonly withdrawals: number;
  readonly reason: HoldReason | null;
  readonly detail: HoldDetail | null;
}

/** Days that are held for the same reason are one alert, with the numbers of the oldest day. */
export function heldDayAlerts(days: readonly HeldDay[]): Alert[] {
  return alertsByCause(
    'day_held',
    days,
    ({ reason }) => `${reason}`,
    ({ items, oldest, listed }, words) =>
      words.text('alertMessages.held', { days: items.length, listed, why: whyHeld(oldest, words) }),
  );
}

function whyHeld(day: HeldDay, { text, language }: Words): string {
  const { reason, detail, titles, responseTitles, withdrawals } = day;
  const pull = String(day.pullId);
  if (reason === 'unreadable') {
    return text('alertMessages.heldUnreadable', { pull, titles: responseTitles });
  }
  if (isImplausible(reason)) {
    const why = implausibleText(language, reason, detail);
    return text('alertMessages.heldImplausible', { reason: why, pull });
  }
  return text('alertMessages.heldWithdrawals', { pull, withdrawals, titles });
}

export interface OpenRejects extends AlertDate {
  readonly rejects: number;
  readonly pullId: bigint;
}

export function openRejectsAlerts(open: readonly OpenRejects[]): Alert[] {
  return alertsByCause('day_attention', open, ANY_CAUSE, ({ items, listed }, { text }) =>
    text('alertMessages.rejects', {
      days: items.length,
      listed,
      rejects: sumOf(items, (day) => day.rejects),
    }),
  );
}

/** The open findings of one check on one day. */
export interface OpenFindings extends AlertDate {
  readonly findings: number;
  readonly code: CheckCode;
  readonly pullId: bigint;
}

/** The findings of one check are one alert. */
export function openFindingsAlerts(open: readonly OpenFindings[]): Alert[] {
  return alertsByCause(
    'findings_open',
    open,
    ({ code }) => code,
    ({ items, oldest, listed }, { text }) =>
      text('alertMessages.findings', {
        findings: sumOf(items, (day) => day.findings),
        check: text(`checks.names.${oldest.code}`),
        listed,
      }),
  );
}

export function restatedDayAlerts(days: readonly AlertDate[]): Alert[] {
  return alertsByCause('restated_after_sign_off', days, ANY_CAUSE, ({ items, listed }, { text }) =>
    text('alertMessages.restated', { days: items.length, listed }),
  );
}

/** One restatement may reach the days of several months. */
export function brokenMonthAlerts(
  broken: readonly {
    readonly month: string;
    /** In date order, at least one. */
    readonly days: readonly { readonly date: CivilDate }[];
  }[],
): Alert[] {
  const days = broken.flatMap((month) => month.days.map(({ date }) => ({ date, pullId: null })));
  return alertsByCause('month_seal_broken', days, ANY_CAUSE, ({ listed }, { text, day }) =>
    text('alertMessages.brokenMonths', {
      count: broken.length,
      months: broken.map(({ month }) => day(month)).join(', '),
      listed,
    }),
  );
}

export interface AlteredDate extends AlertDate {
  /** Of the first of the findings, as a date in UTC. */
  readonly foundDate: CivilDate;
  /** Findings of the last day and findings that last, without those that a person has acknowledged. */
  readonly findings: number;
  /** Some of the rows that differ: see `title_finding.row_key`. */
  readonly rows: readonly { readonly problem: string; readonly key: string }[];
  /** The newest pull that repairs the date; null: none was requested. */
  readonly pullId: bigint | null;
}

/** The minimum duration of the alert of a finding, because a repair may correct the difference within a minute. */
export const FINDING_ALERT_HOURS = 24;

/** Rows that the message of one alert names. */
export const ALTERED_ROWS_NAMED = 5;

/** A statement that alters one date mostly alters others too, so the findings that began on one day are one alert. */
export function alteredDateAlerts(dates: readonly AlteredDate[]): Alert[] {
  return alertsByCause(
    'titles_altered',
    dates,
    ({ foundDate }) => foundDate,
    ({ items, listed }, { text }) => {
      const findings = sumOf(items, (date) => date.findings);
      const rows = [
        ...new Set(
          items
            .flatMap((date) => date.rows)
            .map(({ problem, key }) => text('alertMessages.alteredRow', { problem, key })),
        ),
      ];
      const altered = text('alertMessages.altered', { listed, findings });
      if (rows.length === 0) return altered;
      const titles = rows.slice(0, ALTERED_ROWS_NAMED).join(', ');
      return rows.length < findings || rows.length > ALTERED_ROWS_NAMED
        ? text('alertMessages.alteredSome', { altered, titles })
        : text('alertMessages.alteredTitles', { altered, titles });
    },
  );
}

/** Dates that were not checked for long. */
export interface OverdueChecks {
  readonly dates: number;
  /** The date with the oldest check. */
  readonly date: CivilDate;
}

/** Each date is checked once a day. */
export const CHECK_OVERDUE_HOURS = 26;

/** One for all dates: the cause is mostly the same. */
export function overdueChecksAlert({ dates, date }: OverdueChecks): Alert {
  return {
    kind: 'verification_overdue',
    dedupeKey: 'verification_overdue',
    ...inBoth(({ text, day }) =>
      text('alertMessages.unverified', { dates, hours: CHECK_OVERDUE_HOURS, date: day(date) }),
    ),
    date,
    pullId: null,
  };
}
