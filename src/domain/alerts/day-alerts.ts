import type { CivilDate } from '../business-day.ts';
import { CHECK_TEXTS, type CheckCode } from '../checks/checks.ts';
import { type HoldDetail, implausibleText, isImplausible } from '../checks/plausibility.ts';
import type { HoldReason } from '../day-state.ts';
import type { Alert } from './alert.ts';
import { type AlertDate, ANY_CAUSE, alertsByCause, countPt, dayPt, sumOf } from './dated-alerts.ts';

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
  /** Some of the rows that differ: see `title_finding.row_key`. */
  readonly rows: readonly { readonly problem: string; readonly key: string }[];
  /** The newest pull that repairs the date; null: none was requested. */
  readonly pullId: bigint | null;
}

/** The minimum duration of the alert of a finding, because a repair may correct the difference within a minute. */
export const FINDING_ALERT_HOURS = 24;

/** Rows that the message of one alert names. */
export const ALTERED_ROWS_NAMED = 5;

/** What the rows of a problem are, in English and Portuguese. */
const ALTERED_ROWS: Readonly<Record<string, readonly [string, string]>> = {
  content: ['title', 'título'],
  hold: ['payment of title', 'pagamento do título'],
  line: ['booking line', 'lançamento'],
  batch: ['booking batch', 'lote de lançamentos'],
  seal: ['sign-off', 'fechamento'],
  reject: ['accepted reject', 'rejeitado aceito'],
  account: ['account change', 'troca de conta'],
  finding: ['resolved finding', 'apontamento resolvido'],
  pull: ['pull', 'busca'],
  session: ['session of', 'sessão de'],
  user: ['role of', 'perfil de'],
  consumer: ['consumer', 'sistema consumidor'],
};

/** A statement that alters one date mostly alters others too, so the findings that began on one day are one alert. */
export function alteredDateAlerts(dates: readonly AlteredDate[]): Alert[] {
  return alertsByCause(
    'titles_altered',
    dates,
    ({ foundDate }) => foundDate,
    (altered) => {
      const { items, listed, listedPt } = altered;
      const findings = sumOf(items, (date) => date.findings);
      const nameIn = (language: 0 | 1) => [
        ...new Set(
          items
            .flatMap((date) => date.rows)
            .map(({ problem, key }) => `${ALTERED_ROWS[problem]?.[language] ?? problem} ${key}`),
        ),
      ];
      const isLonger = nameIn(0).length > ALTERED_ROWS_NAMED || nameIn(0).length < findings;
      const named = nameIn(0).slice(0, ALTERED_ROWS_NAMED).join(', ');
      const namedPt = nameIn(1).slice(0, ALTERED_ROWS_NAMED).join(', ');
      const differences = findings === 1 ? '1 difference' : `${findings} differences`;
      return {
        message:
          `the tables of ${listed} were altered outside of the program: ${differences}` +
          (named === '' ? '' : ` (${named}${isLonger ? ' and more' : ''})`),
        messagePt:
          `registros de ${listedPt} foram alterados no banco de dados fora do programa: ${countPt(findings, 'diferença', 'diferenças')}` +
          (named === '' ? '' : ` (${namedPt}${isLonger ? ' e outros' : ''})`),
      };
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
