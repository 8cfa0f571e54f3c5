import type { ProcessFault } from '../process-fault.ts';
import type { Alert, AlertKind } from './alert.ts';
import { countPt } from './dated-alerts.ts';

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
            'clock_skew',
            `the clock of ${ofProcesses(skewed)} differs from the clock of the database by more than two minutes: nothing is planned there`,
            `o relógio de ${ofProcessesPt(skewed)} difere do relógio do banco de dados em mais de dois minutos: nada é planejado ali`,
          ),
        ]
      : []),
    ...(failing > 0
      ? [
          processAlert(
            'pull_overdue',
            'pull_overdue:planning',
            `no run of the planner of ${ofProcesses(failing)} has succeeded for five minutes: the queue does not answer, or the log has another cause`,
            `o planejamento de ${ofProcessesPt(failing)} falha há cinco minutos: a fila não responde, ou o log mostra outra causa`,
          ),
        ]
      : []),
  ];
}

/** The share of PostgreSQL's queue of notifications that may be used. Ordinary queues are almost empty. */
export const NOTIFICATIONS_LIMIT = 0.1;

export interface HeldNotifications {
  readonly percent: number;
  /** Numbers and users of sessions of PostgreSQL whose transactions may hold the queue, the likeliest first. */
  readonly sessions: readonly string[];
}

export function heldNotificationsAlert({ percent, sessions }: HeldNotifications): Alert {
  const held = sessions.join(', ');
  return processAlert(
    'pull_overdue',
    'pull_overdue:notifications',
    `the queue of notifications of PostgreSQL is ${percent}% full; sessions in a transaction: ${held || 'none'}. Once the queue is full, no sign-off with bookings and no job on PostgreSQL succeeds`,
    `a fila de notificações do PostgreSQL está ${percent}% cheia; sessões em transação: ${held || 'nenhuma'}. Com a fila cheia, falham as aprovações com lançamentos e as tarefas no PostgreSQL`,
  );
}

function processAlert(
  kind: AlertKind,
  dedupeKey: string,
  message: string,
  messagePt: string,
): Alert {
  return { kind, dedupeKey, message, messagePt, date: null, pullId: null };
}
