import { type Language, namesIn, type TextKey, textOf } from '../../base/texts/texts.ts';
import type { CheckCode } from '../../base/values/checks.ts';
import type { AlertEntry, AlertRow, Words } from '../../console/alert-entry.ts';
import { IS_OPEN_FINDING } from '../../core/ledger/day-ledger.sql.ts';
import type { HoldDetail, HoldReason } from '../../core/ledger/states.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { BROKEN_MONTHS } from './months/month-seal.sql.ts';

export const dayAlerts = {
  /** Days that are held for the same reason are one alert, with the numbers of the oldest day. */
  day_held: {
    severity: 'warning',
    hasTask: true,
    causes: () => [
      Prisma.sql`
        SELECT held.hold_reason AS cause, day.date, held.id AS "pullId", day.title_count AS titles,
               held.titles AS "responseTitles", held.withdrawn AS withdrawals, held.hold_reason AS reason,
               held.hold_detail AS detail
        FROM conciliation.day AS day JOIN conciliation.pull AS held ON held.id = day.held_pull_id
        -- Without an answer to this, the program decides at the end of the run.
        WHERE day.state = 'held' AND NOT (held.hold_reason = 'run_withdrawals' AND held.run_ended_at IS NULL)`,
    ],
    values(
      [day]: readonly (AlertRow & { reason: HoldReason | null; detail: HoldDetail | null })[],
      { language }: Words,
    ) {
      const { reason = null, detail = null } = day ?? {};
      return { why: isImplausible(reason) ? implausibleText(language, reason, detail) : 'none' };
    },
  },
  /**
   * Rejected titles, and findings that a person has to resolve, of which those of one check are one alert. A held day
   * has a separate alert.
   */
  day_attention: {
    severity: 'warning',
    hasTask: true,
    causes: () => [
      Prisma.sql`
        SELECT reject.date, max(reject.last_pull_id) AS "pullId", sum(count(*)) OVER () AS rejects
        FROM conciliation.day AS day
        JOIN conciliation.rejected_title AS reject ON reject.date = day.date AND reject.status = 'open'
        WHERE day.state = 'attention' GROUP BY reject.date`,
      Prisma.sql`
        SELECT finding.code AS cause, finding.accepted_date AS date, day.last_pull_id AS "pullId", finding.code,
               sum(count(*)) OVER (PARTITION BY finding.code) AS findings
        FROM conciliation.check_finding AS finding
        JOIN conciliation.day AS day ON day.date = finding.accepted_date AND day.state = 'attention'
        WHERE ${IS_OPEN_FINDING} GROUP BY finding.accepted_date, finding.code, day.last_pull_id`,
    ],
    values: ([day]: readonly (AlertRow & { code?: CheckCode })[], { text }: Words) => ({
      check: day?.code === undefined ? 'none' : text(`checks.names.${day.code}`),
    }),
  },
  restated_after_sign_off: {
    severity: 'warning',
    hasTask: true,
    causes: () => [
      Prisma.sql`
        SELECT date, last_pull_id AS "pullId" FROM conciliation.day WHERE restated_after_sign_off`,
    ],
  },
  /** One restatement may reach the days of several months. */
  month_seal_broken: {
    severity: 'warning',
    page: '/months',
    causes: () => [
      Prisma.sql`
        SELECT broken.month, (day->>'date')::date AS date
        FROM (${BROKEN_MONTHS}) AS broken, jsonb_array_elements(days) AS day`,
    ],
    values(rows: readonly (AlertRow & { month: string })[], { day }: Words) {
      const months = [...new Set(rows.map(({ month }) => month))];
      return { months: months.map(day).join(', '), count: months.length };
    },
  },
} satisfies Record<string, AlertEntry>;

type NameIn<Key> = Key extends `holds.rules.${infer Name}` ? Name : never;
/** A reason that has numbers. */
type ImplausibleReason = NameIn<TextKey>;

/**
 * Returns a reason with its numbers as a part of a sentence, for the command line, alerts and pages. A buyer is not
 * named, because the identification is a tax identifier.
 * @param detail null: the pull was held by a release that did not keep the numbers or, with `run_withdrawals`, the run
 *   has not ended
 */
export function implausibleText(
  language: Language,
  reason: ImplausibleReason,
  detail: HoldDetail | null,
): string {
  const text = textOf(language);
  if (detail === null) {
    return text(reason === 'run_withdrawals' ? 'holds.runUnderWay' : `holds.rules.${reason}`);
  }
  const { buyer, found, of, limit } = detail;
  const numbers = text('holds.numbers', { reason, found, of: String(of), limit });
  const shown = buyer === null ? numbers : text('holds.ofBuyer', { numbers });
  return `${text(`holds.rules.${reason}`)} (${shown})`;
}

export function isImplausible(reason: string | null): reason is ImplausibleReason {
  return namesIn('holds.rules').some((name) => name === reason);
}
