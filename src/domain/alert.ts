import type { CivilDate } from './business-day.ts';
import { addDays, daysBetween } from './business-day.ts';
import { CHECK_TEXTS, type CheckCode } from './checks/checks.ts';
import { type HoldDetail, implausibleText, isImplausible } from './checks/plausibility.ts';
import type { HoldReason } from './day-state.ts';
import type { ProcessFault } from './process-fault.ts';

/** Conditions that a person should know. All of them can be derived from the tables at any time. */
export const ALERT_KINDS = [
  'pull_failed',
  'pull_overdue',
  'sweep_failed',
  'sweep_stale',
  'sweep_differs',
  'sweep_unplaced',
  'filters_disagree',
  'day_held',
  'day_attention',
  'findings_open',
  'checkpoint_stale',
  'restated_after_sign_off',
  'booking_failed',
  'booking_overdue',
  'booking_receipts',
  'booking_waiting',
  'consumer_behind',
  'month_seal_broken',
  'titles_altered',
  'verification_overdue',
  'provider_rejected',
  'push_failing',
  'account_changed',
  'payables_stale',
  'paid_to_supplier',
  'contract_drift',
  'platform_auth',
  'clock_skew',
  'planning_failed',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

const ALERT_SEVERITIES = ['critical', 'warning'] as const;
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

/** Kinds that stop the work or may mean fraud. ops/prometheus/rules.yml has the same list. */
export const CRITICAL_ALERT_KINDS: readonly AlertKind[] = [
  'platform_auth',
  'clock_skew',
  'planning_failed',
  'pull_overdue',
  'checkpoint_stale',
  'titles_altered',
  'account_changed',
  'paid_to_supplier',
];

/** An open alert whose message has changed is told again this long after its last message, in hours. */
export const UPDATE_HOURS: Readonly<Record<AlertSeverity, number>> = { critical: 1, warning: 24 };

export function severityOf(kind: AlertKind): AlertSeverity {
  return CRITICAL_ALERT_KINDS.includes(kind) ? 'critical' : 'warning';
}

export const ALERT_CHANNELS = ['webhook', 'slack', 'teams', 'email'] as const;
export type AlertChannel = (typeof ALERT_CHANNELS)[number];

export const ALERT_LANGUAGES = ['en', 'pt-BR'] as const;
export type AlertLanguage = (typeof ALERT_LANGUAGES)[number];

/** Kinds that are derived from the tables of providers. */
export const PROVIDER_ALERT_KINDS: readonly AlertKind[] = ['provider_rejected', 'push_failing'];

/** All other kinds. */
export const LEDGER_ALERT_KINDS = ALERT_KINDS.filter(
  (kind) => !PROVIDER_ALERT_KINDS.includes(kind),
);

/** A condition while it lasts. `dedupeKey` identifies it. */
export interface Alert {
  readonly kind: AlertKind;
  readonly dedupeKey: string;
  /** A sentence for a person, without personal data. */
  readonly message: string;
  /** The same sentence in Portuguese. */
  readonly messagePt: string;
  readonly date: CivilDate | null;
  readonly pullId: bigint | null;
}

/** A date with a condition, and the pull that the condition is about. */
interface AlertDate {
  readonly date: CivilDate;
  readonly pullId: bigint | null;
}

/** The dates that one cause hits, for a message. */
interface Hit<T> {
  /** In date order. */
  readonly items: readonly T[];
  readonly oldest: T;
  /** The dates in words. */
  readonly listed: string;
  readonly listedPt: string;
}

/**
 * Raises one alert for each cause, whatever number of dates it hits, because one step mostly mends all of them.
 * Date and pull are those of the oldest date.
 * @param causeOf the cause of an item, which identifies the alert of the kind; null: the kind is one cause
 */
function alertsByCause<T extends AlertDate>(
  kind: AlertKind,
  found: readonly T[],
  causeOf: (item: T) => string | null,
  tell: (hit: Hit<T>) => Pick<Alert, 'message' | 'messagePt'>,
): Alert[] {
  return [...new Set(found.map(causeOf))].flatMap((cause) => {
    const items = found
      .filter((item) => causeOf(item) === cause)
      .toSorted((a, b) => daysBetween(b.date, a.date));
    const [oldest] = items;
    if (oldest === undefined) return [];
    const dates = items.map(({ date }) => date);
    const [listed, listedPt] = [listDates(dates, 'en'), listDates(dates, 'pt-BR')];
    return {
      kind,
      dedupeKey: cause === null ? kind : `${kind}:${cause}`,
      ...tell({ items, oldest, listed, listedPt }),
      date: oldest.date,
      pullId: oldest.pullId,
    };
  });
}

/** The kind is one cause. */
const ANY_CAUSE = () => null;

function sumOf<T>(items: readonly T[], countOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + countOf(item), 0);
}

export interface FailedPull extends AlertDate {
  readonly pullId: bigint;
  readonly attempts: number;
  readonly errorCode: string | null;
}

/** Pulls that fail with the same error code mostly have the same cause. */
export function failedPullAlerts(pulls: readonly FailedPull[]): Alert[] {
  return alertsByCause(
    'pull_failed',
    pulls,
    ({ errorCode }) => `${errorCode}`,
    (failed) => {
      const { items, oldest, listed, listedPt } = failed;
      const attempts = Math.max(...items.map((pull) => pull.attempts));
      const { errorCode } = oldest;
      const after = afterAttempts({ attempts, errorCode });
      const afterPt = afterAttemptsPt({ attempts, errorCode });
      return items.length === 1
        ? {
            message: `the pull of ${listed} failed ${after}`,
            messagePt: `a busca de ${listedPt} falhou ${afterPt}`,
          }
        : {
            message: `the pulls of ${items.length} dates failed ${after}: ${listed}`,
            messagePt: `as buscas de ${items.length} datas falharam ${afterPt}: ${listedPt}`,
          };
    },
  );
}

/** Dates and ranges of dates that a message names. */
const RANGES_NAMED = 3;

/** @param dates in order */
export function listDates(dates: readonly CivilDate[], language: AlertLanguage): string {
  const ranges: { from: CivilDate; to: CivilDate; dates: number }[] = [];
  for (const date of dates) {
    const last = ranges.at(-1);
    if (last !== undefined && daysBetween(last.to, date) === 1) {
      last.to = date;
      last.dates += 1;
    } else ranges.push({ from: date, to: date, dates: 1 });
  }
  const named = ranges.slice(0, RANGES_NAMED);
  const more = dates.length - named.reduce((sum, range) => sum + range.dates, 0);
  const isPt = language === 'pt-BR';
  const texts = named.map(({ from, to }) => {
    const [first, last] = isPt ? [dayPt(from), dayPt(to)] : [from, to];
    return from === to ? first : `${first} ${isPt ? 'a' : 'to'} ${last}`;
  });
  if (more === 0) return texts.join(', ');
  return `${texts.join(', ')} ${isPt ? `e mais ${more}` : `and ${more} more`}`;
}

/** A date as Brazilians write it. */
function dayPt(date: string): string {
  return date.split('-').reverse().join('/');
}

function countPt(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

export interface OverduePulls {
  readonly pulls: number;
  /** Of the pull with the oldest slot. */
  readonly date: CivilDate;
  readonly pullId: bigint;
}

/** A planned pull that has not ended is overdue this long after its slot. */
export const OVERDUE_HOURS = 2;

/** One for all dates: whatever keeps them from being pulled keeps all of them. */
export function overduePullsAlert({ pulls, date, pullId }: OverduePulls): Alert {
  const subject = pulls === 1 ? 'a planned pull has' : `${pulls} planned pulls have`;
  return {
    kind: 'pull_overdue',
    dedupeKey: 'pull_overdue',
    message: `${subject} not ended ${OVERDUE_HOURS} hours after the slot; the oldest is that of ${date}`,
    messagePt: `${countPt(pulls, 'busca prevista não terminou', 'buscas previstas não terminaram')} ${OVERDUE_HOURS} horas depois do horário; a mais antiga é a de ${dayPt(date)}`,
    date,
    pullId,
  };
}

function afterAttempts(failed: Pick<FailedPull, 'attempts' | 'errorCode'>): string {
  const attempts = `${failed.attempts} ${failed.attempts === 1 ? 'attempt' : 'attempts'}`;
  return `after ${attempts} (${failed.errorCode ?? 'no error recorded'})`;
}

function afterAttemptsPt(failed: Pick<FailedPull, 'attempts' | 'errorCode'>): string {
  const attempts = countPt(failed.attempts, 'tentativa', 'tentativas');
  return `após ${attempts} (${failed.errorCode ?? 'sem erro registrado'})`;
}

/** Without a date and a pull, because the newest sweep replaces all earlier ones. */
function sweepAlert(kind: AlertKind, message: string, messagePt: string): Alert {
  return { kind, dedupeKey: kind, message, messagePt, date: null, pullId: null };
}

export interface FailedSweep extends Pick<FailedPull, 'attempts' | 'errorCode'> {
  readonly from: CivilDate;
  readonly overLimit: boolean;
}

export function failedSweepAlert(sweep: FailedSweep): Alert {
  const message = `the sweep since ${sweep.from} failed ${afterAttempts(sweep)}`;
  const messagePt = `a varredura desde ${dayPt(sweep.from)} falhou ${afterAttemptsPt(sweep)}`;
  if (!sweep.overLimit) return sweepAlert('sweep_failed', message, messagePt);
  return sweepAlert(
    'sweep_failed',
    `${message}: its answer exceeded a limit, so each date in its reach is pulled once a week`,
    `${messagePt}: a resposta passou de um limite; cada data do período é buscada uma vez por semana`,
  );
}

/** @param completeAt when the newest complete sweep sent its request; null: no sweep is complete */
export function staleSweepAlert(completeAt: Date | null): Alert {
  const since = completeAt?.toISOString().slice(0, 10);
  const last = since === undefined ? 'yet' : `since ${since}`;
  const lastPt = since === undefined ? 'até agora' : `desde ${dayPt(since)}`;
  return sweepAlert(
    'sweep_stale',
    `no sweep has been complete ${last}: restatements of older dates go unnoticed`,
    `nenhuma varredura foi concluída ${lastPt}: alterações em datas antigas passam despercebidas`,
  );
}

/** The findings of the newest complete sweep. */
export interface SweepFindings {
  readonly from: CivilDate;
  readonly datesCompared: number;
  /** Number of differing dates that had been answered before. */
  readonly datesDiffering: number;
  readonly undated: number;
  readonly future: number;
  readonly early: number;
}

/** A larger share points to the platform or to this program, not to single dates. */
const MAX_DIFFERING_SHARE = 1 / 5;

/** Returns up to two alerts: many differing dates, and titles that belong to no requested date. */
export function sweepFindingAlerts(sweep: SweepFindings): Alert[] {
  const { from, datesCompared, datesDiffering } = sweep;
  const unplaced = [
    [sweep.undated, 'without a readable accepted date', 'sem data de aceite legível'],
    [sweep.future, 'of a date in the future', 'de data futura'],
    [
      sweep.early,
      `of a date before ${from}, which were not asked for`,
      `de data anterior a ${dayPt(from)}, que não foi pedida`,
    ],
  ].filter(([titles]) => titles !== 0);
  return [
    ...(datesDiffering > datesCompared * MAX_DIFFERING_SHARE
      ? [
          sweepAlert(
            'sweep_differs',
            `the sweep since ${from} differs from the ledger on ${datesDiffering} of ${datesCompared} dates`,
            `a varredura desde ${dayPt(from)} diverge do registro em ${datesDiffering} de ${datesCompared} datas`,
          ),
        ]
      : []),
    ...(unplaced.length > 0
      ? [
          sweepAlert(
            'sweep_unplaced',
            `the sweep since ${from} had titles that belong to no date: ${unplaced.map(([titles, reason]) => `${titles} ${reason}`).join(', ')}`,
            `a varredura desde ${dayPt(from)} trouxe títulos que não pertencem a nenhuma data: ${unplaced.map(([titles, , reason]) => `${titles} ${reason}`).join(', ')}`,
          ),
        ]
      : []),
  ];
}

export interface ContradictedDate extends AlertDate {
  readonly pullId: bigint;
  /** Titles of the date in the response to the newest sweep, and to the pull after it. */
  readonly sweepTitles: number;
  readonly pullTitles: number;
}

export function contradictedDateAlerts(contradicted: readonly ContradictedDate[]): Alert[] {
  return alertsByCause('filters_disagree', contradicted, ANY_CAUSE, (hit) => {
    const { items, oldest, listed, listedPt } = hit;
    const { date, sweepTitles, pullTitles } = oldest;
    const titlesPt = countPt(sweepTitles, 'título', 'títulos');
    return items.length === 1
      ? {
          message: `two sweeps in a row contradict the pulls of ${listed} that followed them: by anticipationDate the date has ${sweepTitles} titles, by conciliationDate ${pullTitles}`,
          messagePt: `duas varreduras seguidas contradizem as buscas de ${listedPt} que vieram depois: por anticipationDate a data tem ${titlesPt}; por conciliationDate, ${pullTitles}`,
        }
      : {
          message: `two sweeps in a row contradict the pulls of ${items.length} dates that followed them: ${listed}; by anticipationDate ${date} has ${sweepTitles} titles, by conciliationDate ${pullTitles}`,
          messagePt: `duas varreduras seguidas contradizem as buscas de ${items.length} datas que vieram depois: ${listedPt}; por anticipationDate o dia ${dayPt(date)} tem ${titlesPt}; por conciliationDate, ${pullTitles}`,
        };
  });
}

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
    (held) => {
      const { items, oldest, listed, listedPt } = held;
      const [why, whyPt] = whyHeld(oldest);
      return items.length === 1
        ? {
            message: `${listed} is held: ${why}`,
            messagePt: `o dia ${listedPt} está retido: ${whyPt}`,
          }
        : {
            message: `${items.length} days are held for one reason, ${listed}; on the oldest day, ${why}`,
            messagePt: `${items.length} dias estão retidos pelo mesmo motivo, ${listedPt}; no mais antigo, ${whyPt}`,
          };
    },
  );
}

function whyHeld(day: HeldDay): readonly [en: string, pt: string] {
  const { pullId, reason, detail, titles, responseTitles, withdrawals } = day;
  if (reason === 'unreadable') {
    return [
      `the response to pull ${pullId} has ${responseTitles} titles, and none could be read`,
      `a resposta da busca ${pullId} tem ${countPt(responseTitles, 'título', 'títulos')}, e nenhum pôde ser lido`,
    ];
  }
  if (isImplausible(reason)) {
    return [
      `${implausibleText('en', reason, detail)} (pull ${pullId})`,
      `${implausibleText('pt-BR', reason, detail)} (busca ${pullId})`,
    ];
  }
  return [
    `pull ${pullId} would withdraw ${withdrawals} of its ${titles} titles`,
    `a busca ${pullId} retiraria ${withdrawals} dos ${titles} títulos do dia`,
  ];
}

export interface OpenRejects extends AlertDate {
  readonly rejects: number;
  readonly pullId: bigint;
}

export function openRejectsAlerts(open: readonly OpenRejects[]): Alert[] {
  return alertsByCause('day_attention', open, ANY_CAUSE, ({ items, listed, listedPt }) => {
    const rejects = sumOf(items, (day) => day.rejects);
    const titles = `${rejects} ${rejects === 1 ? 'title' : 'titles'}`;
    const titlesPt = `${countPt(rejects, 'título fora do formato documentado não entrou', 'títulos fora do formato documentado não entraram')} nas somas`;
    return items.length === 1
      ? {
          message: `${listed} lacks ${titles} that broke the contract`,
          messagePt: `o dia ${listedPt} está incompleto: ${titlesPt}`,
        }
      : {
          message: `${items.length} days lack ${titles} that broke the contract: ${listed}`,
          messagePt: `${items.length} dias estão incompletos, ${listedPt}: ${titlesPt}`,
        };
  });
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
    (hit) => {
      const { items, oldest, listed, listedPt } = hit;
      const findings = sumOf(items, (day) => day.findings);
      const { code } = oldest;
      return {
        message: `a person has to resolve ${findings} ${findings === 1 ? 'finding' : 'findings'} of the check "${CHECK_TEXTS.en[code].name}": ${listed}`,
        messagePt: `há ${countPt(findings, 'apontamento', 'apontamentos')} a resolver da regra "${CHECK_TEXTS['pt-BR'][code].name}": ${listedPt}`,
      };
    },
  );
}

export function restatedDayAlerts(days: readonly AlertDate[]): Alert[] {
  return alertsByCause('restated_after_sign_off', days, ANY_CAUSE, ({ items, listed, listedPt }) =>
    items.length === 1
      ? {
          message: `the platform restated ${listed} after it was signed off`,
          messagePt: `a plataforma alterou o dia ${listedPt} depois do fechamento`,
        }
      : {
          message: `the platform restated ${items.length} days after they were signed off: ${listed}`,
          messagePt: `a plataforma alterou ${items.length} dias depois do fechamento: ${listedPt}`,
        },
  );
}

export function bookingReceiptsAlerts(
  open: readonly { readonly date: CivilDate; readonly receipts: number }[],
): Alert[] {
  const dated = open.map((day) => ({ ...day, pullId: null }));
  return alertsByCause('booking_receipts', dated, ANY_CAUSE, ({ items, listed, listedPt }) => {
    const receipts = sumOf(items, (day) => day.receipts);
    const isOneDay = items.length === 1;
    return {
      message: `${receipts} ${receipts === 1 ? 'receipt' : 'receipts'} of the ERP for ${listed} ${receipts === 1 ? 'does' : 'do'} not fit the released lines; the ${isOneDay ? 'day is' : 'days are'} not released until a person decides`,
      messagePt: `${countPt(receipts, 'retorno do ERP', 'retornos do ERP')} de ${listedPt} não ${receipts === 1 ? 'confere' : 'conferem'} com os lançamentos liberados; ${isOneDay ? 'o dia só é liberado' : 'os dias só são liberados'} depois de uma decisão`,
    };
  });
}

export function failedLinesAlert(failed: {
  readonly lines: number;
  /** The smallest accepted date of them. */
  readonly date: CivilDate;
}): Alert {
  const { lines, date } = failed;
  return {
    kind: 'booking_failed',
    dedupeKey: 'booking_failed',
    message: `the ERP could not post ${lines} booking ${lines === 1 ? 'line' : 'lines'}, the oldest for ${date}`,
    messagePt: `o ERP não conseguiu contabilizar ${countPt(lines, 'lançamento', 'lançamentos')}; o mais antigo é do dia ${dayPt(date)}`,
    date,
    pullId: null,
  };
}

/** When booking lines and their consumers are late, in days. */
export interface BookingLimits {
  /** Since the release of a line that the ERP has not answered. */
  readonly overdueDays: number;
  /** Since the offer of a line that its consumer has not read. */
  readonly behindDays: number;
}

export const BOOKING_LIMITS: BookingLimits = { overdueDays: 2, behindDays: 1 };

const days = (count: number) => (count === 1 ? '1 day' : `${count} days`);

export function overdueLinesAlert(overdue: {
  readonly lines: number;
  /** The smallest accepted date of them. */
  readonly date: CivilDate;
  /** The limit in days, for the message. */
  readonly afterDays: number;
}): Alert {
  const { lines, date, afterDays } = overdue;
  return {
    kind: 'booking_overdue',
    dedupeKey: 'booking_overdue',
    message: `the ERP has not answered for ${lines} booking ${lines === 1 ? 'line' : 'lines'} ${days(afterDays)} after the release, the oldest for ${date}`,
    messagePt: `o ERP não respondeu sobre ${countPt(lines, 'lançamento', 'lançamentos')} ${countPt(afterDays, 'dia', 'dias')} depois da liberação; o mais antigo é do dia ${dayPt(date)}`,
    date,
    pullId: null,
  };
}

export function waitingDaysAlert(waiting: {
  readonly days: number;
  /** The oldest of them. */
  readonly date: CivilDate;
  /** The limit in days, for the message. */
  readonly afterDays: number;
}): Alert {
  const { date, afterDays } = waiting;
  const signed =
    waiting.days === 1 ? '1 signed-off day has' : `${waiting.days} signed-off days have`;
  return {
    kind: 'booking_waiting',
    dedupeKey: 'booking_waiting',
    message: `${signed} not been released for booking for more than ${days(afterDays)}, the oldest ${date}`,
    messagePt: `${countPt(waiting.days, 'dia fechado aguarda', 'dias fechados aguardam')} a liberação dos lançamentos há mais de ${countPt(afterDays, 'dia', 'dias')}; o mais antigo é ${dayPt(date)}`,
    date,
    pullId: null,
  };
}

export function consumerBehindAlert(consumer: {
  readonly name: string;
  readonly behind: number;
  /** The limit in days, for the message. */
  readonly afterDays: number;
}): Alert {
  const { name, behind, afterDays } = consumer;
  return {
    kind: 'consumer_behind',
    dedupeKey: `consumer_behind:${name}`,
    message: `the consumer ${name} has not read its booking lines for more than ${days(afterDays)}: ${behind} ${behind === 1 ? 'line waits' : 'lines wait'}`,
    messagePt: `o consumidor ${name} está há mais de ${countPt(afterDays, 'dia', 'dias')} sem ler seus lançamentos: ${countPt(behind, 'lançamento espera', 'lançamentos esperam')}`,
    date: null,
    pullId: null,
  };
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
  return alertsByCause('month_seal_broken', days, ANY_CAUSE, ({ listed, listedPt }) => {
    const months = broken.map(({ month }) => month);
    const monthsPt = months.map((month) => month.split('-').reverse().join('/'));
    return months.length === 1
      ? {
          message: `the seal of the month ${months[0]} no longer holds, because of ${listed}`,
          messagePt: `o fechamento do mês ${monthsPt[0]} não vale mais, por causa de ${listedPt}`,
        }
      : {
          message: `the seals of the months ${months.join(', ')} no longer hold, because of ${listed}`,
          messagePt: `os fechamentos dos meses ${monthsPt.join(', ')} não valem mais, por causa de ${listedPt}`,
        };
  });
}

export interface AlteredDate extends AlertDate {
  /** Of the first of the findings, as a date in UTC. */
  readonly foundDate: CivilDate;
  /** Findings of the last day and findings that last, without those that a person has acknowledged. */
  readonly findings: number;
  /** `title.id` of some of the titles, in order. */
  readonly titleIds: readonly bigint[];
  /** The newest pull that repairs the date; null: none was requested. */
  readonly pullId: bigint | null;
}

/** The alert of a finding lasts so long at least, because a repair may mend the difference within a minute. */
export const FINDING_ALERT_HOURS = 24;

/** Titles that the message of one alert names. */
export const ALTERED_TITLES_NAMED = 5;

/** A statement that alters one date mostly alters others too, so the findings that began on one day are one alert. */
export function alteredDateAlerts(dates: readonly AlteredDate[]): Alert[] {
  return alertsByCause(
    'titles_altered',
    dates,
    ({ foundDate }) => foundDate,
    (altered) => {
      const { items, listed, listedPt } = altered;
      const findings = sumOf(items, (date) => date.findings);
      const titleIds = items.flatMap((date) => date.titleIds).slice(0, ALTERED_TITLES_NAMED);
      const isLonger = titleIds.length < findings;
      const named = titleIds.map((id) => `title ${id}`).join(', ');
      const namedPt = titleIds.map((id) => `título ${id}`).join(', ');
      const differences = findings === 1 ? '1 difference' : `${findings} differences`;
      return {
        message:
          `the tables of ${listed} were altered outside of a merge: ${differences}` +
          (named === '' ? '' : ` (${named}${isLonger ? ' and more' : ''})`),
        messagePt:
          `registros de ${listedPt} foram alterados no banco de dados fora de uma busca: ${countPt(findings, 'diferença', 'diferenças')}` +
          (named === '' ? '' : ` (${namedPt}${isLonger ? ' e outros' : ''})`),
      };
    },
  );
}

/** Dates whose rows of `title` were not compared with the recorded hashes for long. */
export interface OverdueChecks {
  readonly dates: number;
  /** The date with the oldest check. */
  readonly date: CivilDate;
}

/** Each date is checked once a day. */
export const CHECK_OVERDUE_HOURS = 26;

/** One for all dates: the cause is mostly the same. */
export function overdueChecksAlert({ dates, date }: OverdueChecks): Alert {
  const subject = dates === 1 ? '1 date was' : `${dates} dates were`;
  return {
    kind: 'verification_overdue',
    dedupeKey: 'verification_overdue',
    message: `${subject} not checked for altered titles for ${CHECK_OVERDUE_HOURS} hours; the oldest check is that of ${date}`,
    messagePt: `há ${CHECK_OVERDUE_HOURS} horas ${countPt(dates, 'data está', 'datas estão')} sem conferência de títulos alterados; a conferência mais antiga é a de ${dayPt(date)}`,
    date,
    pullId: null,
  };
}

export interface RefusedProviders {
  /** The date on which the ERP wrote the rows, in the configured time zone. */
  readonly writtenDate: CivilDate;
  /** Rejected by the platform. */
  readonly rejected: number;
  /** Found invalid by the check before the request. */
  readonly invalid: number;
}

/** @returns null: no provider is refused */
export function refusedProvidersAlert(refused: readonly RefusedProviders[]): Alert | null {
  if (refused.length === 0) return null;
  const dates = refused.map(({ writtenDate }) => writtenDate);
  const rejected = sumOf(refused, (date) => date.rejected);
  const invalid = sumOf(refused, (date) => date.invalid);
  const parts = [
    ...(rejected > 0 ? [`${rejected} rejected by the platform`] : []),
    ...(invalid > 0 ? [`${invalid} invalid and not sent`] : []),
  ];
  const partsPt = [
    ...(rejected > 0
      ? [`${countPt(rejected, 'foi recusado', 'foram recusados')} pela plataforma`]
      : []),
    ...(invalid > 0
      ? [countPt(invalid, 'é inválido e não foi enviado', 'são inválidos e não foram enviados')]
      : []),
  ];
  return {
    kind: 'provider_rejected',
    dedupeKey: 'provider_rejected',
    message: `of the providers written on ${listDates(dates, 'en')}, ${parts.join(', ')}`,
    messagePt: `dos fornecedores gravados em ${listDates(dates, 'pt-BR')}, ${partsPt.join(', ')}`,
    // Not an accepted date: the alert concerns no day of the ledger.
    date: null,
    pullId: null,
  };
}

export interface FailingPush {
  readonly pending: number;
  /** Of the last failure; null: no request has failed since the last decision. */
  readonly errorCode: string | null;
}

/** How long pushing may fail before an alert is raised. */
export const PUSH_FAILING_MINUTES = 60;

/** How long providers may wait while no request is decided, whatever the cause. */
export const PUSH_OVERDUE_HOURS = 2;

export function failingPushAlert({ pending, errorCode }: FailingPush): Alert {
  const providers = `${pending} ${pending === 1 ? 'provider waits' : 'providers wait'}`;
  const providersPt = countPt(pending, 'fornecedor aguarda', 'fornecedores aguardam');
  return {
    kind: 'push_failing',
    dedupeKey: 'push_failing',
    message:
      errorCode === null
        ? `no request with providers was decided for over ${PUSH_OVERDUE_HOURS} hours, ${providers}`
        : `pushing has failed for over an hour (${errorCode}), ${providers}`,
    messagePt:
      errorCode === null
        ? `há mais de ${PUSH_OVERDUE_HOURS} horas nenhum envio de fornecedores teve resposta; ${providersPt}`
        : `o envio de fornecedores falha há mais de uma hora (${errorCode}); ${providersPt}`,
    date: null,
    pullId: null,
  };
}

export interface ChangedAccounts {
  /** The pull that received the titles. */
  readonly pullId: bigint;
  readonly changes: number;
  /** The accepted date of the titles; null: they have several. */
  readonly acceptedDate: CivilDate | null;
}

/**
 * Raises one alert for each pull, so that a new change is reported at once while older ones are open. The change
 * of a party is recorded once, by the first pull that has it, so one cause is one alert here too.
 */
export function changedAccountsAlert({ pullId, changes, acceptedDate }: ChangedAccounts): Alert {
  const parties = changes === 1 ? '1 party' : `${changes} parties`;
  return {
    kind: 'account_changed',
    dedupeKey: `account_changed:${pullId}`,
    message: `titles of pull ${pullId} name another bank account than before for ${parties}`,
    messagePt: `títulos da busca ${pullId} trazem uma conta bancária diferente da anterior para ${countPt(changes, 'parte', 'partes')}`,
    date: acceptedDate,
    pullId,
  };
}

export interface NewDrift {
  /** The first pull whose response had the item. */
  readonly pullId: bigint;
  readonly date: CivilDate | null;
  /** Some of the places in the response, in order. */
  readonly paths: readonly string[];
  /** Number of all places. */
  readonly pathCount: number;
}

/** Number of paths that the message of an alert lists. */
export const DRIFT_PATHS_NAMED = 5;

/**
 * Raises one alert for each pull, so that new items are reported at once while older ones are open. An item is
 * recorded once, by the first pull that has it.
 */
export function contractDriftAlert({ pullId, date, paths, pathCount }: NewDrift): Alert {
  const named = paths.slice(0, DRIFT_PATHS_NAMED).map(toSafePath);
  const more = pathCount - named.length;
  return {
    kind: 'contract_drift',
    dedupeKey: `contract_drift:${pullId}`,
    message:
      `the response to pull ${pullId} has fields or values that the documented interface does not ` +
      `have: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    messagePt:
      `a resposta da busca ${pullId} tem campos ou valores que a documentação da plataforma não ` +
      `prevê: ${named.join(', ')}${more > 0 ? ` e mais ${more}` : ''}`,
    date,
    pullId,
  };
}

/**
 * Alerts hold no personal data, and the name of an undocumented field may be any text. A name that
 * is not an ordinary identifier, or that has as many consecutive digits as a part of a tax
 * identifier, is replaced by `…`.
 */
function toSafePath(path: string): string {
  const names = path.split('.');
  return names.map((name) => (isOrdinaryName(name) ? name : '…')).join('.');
}

function isOrdinaryName(name: string): boolean {
  return /^[A-Za-z_$][\w$-]{0,63}(\[\])?$/.test(name) && !/\d{5}/.test(name);
}

export interface FaultyProcesses {
  readonly kind: ProcessFault;
  readonly processes: number;
}

/** Raises at most one alert about tokens, one about clocks and one about planners, for any number of processes. */
export function faultyProcessAlerts(faulty: readonly FaultyProcesses[]): Alert[] {
  const countOf = (fault: ProcessFault) =>
    faulty.find(({ kind }) => kind === fault)?.processes ?? 0;
  const [refused, unusable] = [countOf('token_refused'), countOf('token_unusable')];
  const skewed = countOf('clock_skew');
  const failing = countOf('planning_failed');
  const ofProcesses = (count: number) => `${count} ${count === 1 ? 'process' : 'processes'}`;
  const ofProcessesPt = (count: number) => countPt(count, 'processo', 'processos');
  return [
    ...(refused + unusable > 0
      ? [
          processAlert(
            'platform_auth',
            refused > 0
              ? `the platform refuses the token of ${ofProcesses(refused)}: nothing is pulled or pushed there until the token is replaced`
              : `${ofProcesses(unusable)} cannot read a usable token: nothing is pulled or pushed there until there is one`,
            refused > 0
              ? `a plataforma recusa o token de ${ofProcessesPt(refused)}: buscas e envios param ali até a troca do token`
              : `sem token utilizável em ${ofProcessesPt(unusable)}: buscas e envios param ali até haver um`,
          ),
        ]
      : []),
    ...(skewed > 0
      ? [
          processAlert(
            'clock_skew',
            `the clock of ${ofProcesses(skewed)} differs from the clock of the database by more than two minutes: nothing is planned there`,
            `o relógio de ${ofProcessesPt(skewed)} difere do relógio do banco de dados em mais de dois minutos: nada é planejado ali`,
          ),
        ]
      : []),
    ...(failing > 0
      ? [
          processAlert(
            'planning_failed',
            `no run of the planner of ${ofProcesses(failing)} has succeeded for five minutes: the queue does not answer, or the log has another cause`,
            `o planejamento de ${ofProcessesPt(failing)} falha há cinco minutos: a fila não responde, ou o log mostra outra causa`,
          ),
        ]
      : []),
  ];
}

function processAlert(kind: AlertKind, message: string, messagePt: string): Alert {
  return { kind, dedupeKey: kind, message, messagePt, date: null, pullId: null };
}

/** How far the checkpoint may be behind, and how long it may stay unchanged, before an alert is raised. */
export interface StalenessLimits {
  readonly maxLagDays: number;
  /** Longer than the longest gap between two daily runs. */
  readonly maxIdleHours: number;
}

export const STALENESS_LIMITS: StalenessLimits = { maxLagDays: 3, maxIdleHours: 26 };

/** A shrinking backlog raises no alert: while it is worked off, days are merged more often than this. */
const CATCH_UP_IDLE_HOURS = 1;

const HOUR_MS = 3_600_000;

export interface CheckpointProgress {
  readonly startDate: CivilDate;
  readonly lastReconciledDate: CivilDate | null;
  /** When the checkpoint last advanced. */
  readonly advancedAt: Date;
}

/**
 * Returns the alert for a checkpoint that is behind the last closed date and has not advanced for
 * `maxIdleHours`, or for one hour if it is more than `maxLagDays` behind. Null otherwise.
 */
export function staleCheckpointAlert(
  checkpoint: CheckpointProgress,
  at: { readonly now: Date; readonly lastClosedDate: CivilDate },
  limits: StalenessLimits,
): Alert | null {
  const reached = checkpoint.lastReconciledDate ?? addDays(checkpoint.startDate, -1);
  const lagDays = daysBetween(reached, at.lastClosedDate);
  if (lagDays <= 0) return null;
  const idleHours = (at.now.getTime() - checkpoint.advancedAt.getTime()) / HOUR_MS;
  const patienceHours =
    lagDays > limits.maxLagDays
      ? Math.min(CATCH_UP_IDLE_HOURS, limits.maxIdleHours)
      : limits.maxIdleHours;
  if (idleHours <= patienceHours) return null;
  const behind = `${lagDays} ${lagDays === 1 ? 'day' : 'days'} behind`;
  const behindPt = `atraso de ${countPt(lagDays, 'dia', 'dias')}`;
  return {
    kind: 'checkpoint_stale',
    dedupeKey: 'checkpoint_stale',
    message:
      checkpoint.lastReconciledDate === null
        ? `no date is reconciled yet, ${behind}`
        : `reconciled only up to ${reached}, ${behind}`,
    messagePt:
      checkpoint.lastReconciledDate === null
        ? `nenhuma data foi conciliada até agora; ${behindPt}`
        : `a conciliação só chega até ${dayPt(reached)}; ${behindPt}`,
    date: addDays(reached, 1),
    pullId: null,
  };
}

/** The payables of the ERP and the age from which they count as stale. */
export interface PayableAge {
  /** When the payables were complete last; null: never. */
  readonly snapshotAt: Date | null;
  readonly maxAgeHours: number;
}

/** Whether payables are so old that nothing is concluded from them. */
export function isStale({ snapshotAt, maxAgeHours }: PayableAge, now: Date): boolean {
  return snapshotAt === null || now.getTime() - snapshotAt.getTime() >= maxAgeHours * HOUR_MS;
}

/** Returns the alert for titles that the ERP has paid to the supplier; null: there are none. */
export function paidToSupplierAlert(breaks: number, dates: readonly CivilDate[]): Alert | null {
  const [first = null] = dates;
  if (breaks === 0) return null;
  const titles = `${breaks} ${breaks === 1 ? 'title' : 'titles'}`;
  return {
    kind: 'paid_to_supplier',
    dedupeKey: 'paid_to_supplier',
    message: `the ERP has paid ${titles} to the supplier although the payment was anticipated: ${listDates(dates, 'en')}`,
    messagePt: `o ERP pagou ao fornecedor ${countPt(breaks, 'título já antecipado', 'títulos já antecipados')}: ${listDates(dates, 'pt-BR')}`,
    date: first,
    pullId: null,
  };
}

/** Returns the alert for payables that are stale. Null otherwise. */
export function stalePayablesAlert(
  { snapshotAt, maxAgeHours }: PayableAge,
  now: Date,
): Alert | null {
  const ageHours =
    snapshotAt === null ? null : Math.floor((now.getTime() - snapshotAt.getTime()) / HOUR_MS);
  if (!isStale({ snapshotAt, maxAgeHours }, now)) return null;
  return {
    kind: 'payables_stale',
    dedupeKey: 'payables_stale',
    message:
      ageHours === null
        ? 'the ERP has given no complete snapshot of its payables'
        : `the last complete snapshot of the ERP's payables is more than ${maxAgeHours} hours old`,
    messagePt:
      ageHours === null
        ? 'o ERP ainda não enviou uma posição completa das contas a pagar'
        : `a última posição completa das contas a pagar do ERP tem mais de ${maxAgeHours} horas`,
    date: null,
    pullId: null,
  };
}
