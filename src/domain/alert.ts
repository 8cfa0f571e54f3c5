import type { CivilDate } from './business-day.ts';
import { addDays, daysBetween } from './business-day.ts';
import type { HoldReason } from './day-state.ts';
import type { ProcessFault } from './process-fault.ts';

/** Conditions that a person should know of. All can be read off the tables at any time. */
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
  'checkpoint_stale',
  'restated_after_sign_off',
  'titles_altered',
  'provider_rejected',
  'push_failing',
  'account_changed',
  'contract_drift',
  'platform_auth',
  'clock_skew',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** One condition while it lasts. `dedupeKey` names it: two alerts with equal keys are the same one. */
export interface Alert {
  readonly kind: AlertKind;
  readonly dedupeKey: string;
  /** In words for a person, free of personal data. */
  readonly message: string;
  readonly date: CivilDate | null;
  readonly pullId: bigint | null;
}

export interface FailedPull {
  readonly pullId: bigint;
  readonly from: CivilDate;
  readonly attempts: number;
  readonly errorCode: string | null;
}

export function failedPullAlert(pull: FailedPull): Alert {
  return {
    kind: 'pull_failed',
    dedupeKey: `pull_failed:${pull.from}`,
    message: `the pull of ${pull.from} failed ${afterAttempts(pull)}`,
    date: pull.from,
    pullId: pull.pullId,
  };
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
    date,
    pullId,
  };
}

function afterAttempts(failed: Pick<FailedPull, 'attempts' | 'errorCode'>): string {
  const attempts = `${failed.attempts} ${failed.attempts === 1 ? 'attempt' : 'attempts'}`;
  return `after ${attempts} (${failed.errorCode ?? 'no error recorded'})`;
}

/** Of no date and no pull: the newest sweep speaks for all that came before it. */
function sweepAlert(kind: AlertKind, message: string): Alert {
  return { kind, dedupeKey: kind, message, date: null, pullId: null };
}

export interface FailedSweep extends Pick<FailedPull, 'from' | 'attempts' | 'errorCode'> {
  readonly overLimit: boolean;
}

export function failedSweepAlert(sweep: FailedSweep): Alert {
  const message = `the sweep since ${sweep.from} failed ${afterAttempts(sweep)}`;
  return sweepAlert(
    'sweep_failed',
    sweep.overLimit
      ? `${message}: its answer exceeded a limit, so each date in its reach is pulled once a week`
      : message,
  );
}

/** @param completeAt when the newest complete sweep sent its request; null: none is complete */
export function staleSweepAlert(completeAt: Date | null): Alert {
  const last =
    completeAt === null
      ? 'no sweep has been complete yet'
      : `no sweep has been complete since ${completeAt.toISOString().slice(0, 10)}`;
  return sweepAlert('sweep_stale', `${last}: restatements of older dates go unnoticed`);
}

/** What the newest complete sweep has found. */
export interface SweepFindings {
  readonly from: CivilDate;
  readonly datesCompared: number;
  /** Of the dates that had been answered before. */
  readonly datesDiffering: number;
  readonly undated: number;
  readonly future: number;
  readonly early: number;
}

/** A larger share says more about the platform, or about this program, than about the dates. */
const MAX_DIFFERING_SHARE = 1 / 5;

export function sweepFindingAlerts(sweep: SweepFindings): Alert[] {
  const { from, datesCompared, datesDiffering } = sweep;
  const unplaced = [
    [sweep.undated, 'without a readable accepted date'],
    [sweep.future, 'of a date in the future'],
    [sweep.early, `of a date before ${from}, which were not asked for`],
  ]
    .filter(([titles]) => titles !== 0)
    .map(([titles, reason]) => `${titles} ${reason}`);
  return [
    ...(datesDiffering > datesCompared * MAX_DIFFERING_SHARE
      ? [
          sweepAlert(
            'sweep_differs',
            `the sweep since ${from} differs from the ledger on ${datesDiffering} of ${datesCompared} dates`,
          ),
        ]
      : []),
    ...(unplaced.length > 0
      ? [
          sweepAlert(
            'sweep_unplaced',
            `the sweep since ${from} had titles that belong to no date: ${unplaced.join(', ')}`,
          ),
        ]
      : []),
  ];
}

export interface ContradictedDate {
  readonly date: CivilDate;
  readonly pullId: bigint;
  /** Titles of the date in the answer of the newest sweep, and of the pull after it. */
  readonly sweepTitles: number;
  readonly pullTitles: number;
}

export function contradictedDateAlert(contradicted: ContradictedDate): Alert {
  const { date, pullId, sweepTitles, pullTitles } = contradicted;
  return {
    kind: 'filters_disagree',
    dedupeKey: `filters_disagree:${date}`,
    message: `two sweeps in a row contradict the pulls of ${date} that followed them: by anticipationDate the date has ${sweepTitles} titles, by conciliationDate ${pullTitles}`,
    date,
    pullId,
  };
}

export interface HeldDay {
  readonly date: CivilDate;
  readonly pullId: bigint;
  /** Current titles of the day. */
  readonly titles: number;
  /** Titles of the held response, rejected ones included. */
  readonly responseTitles: number;
  readonly withdrawals: number;
  readonly reason: HoldReason | null;
}

export function heldDayAlert(day: HeldDay): Alert {
  const why =
    day.reason === 'unreadable'
      ? `the response to pull ${day.pullId} has ${day.responseTitles} titles, and none could be read`
      : `pull ${day.pullId} would withdraw ${day.withdrawals} of its ${day.titles} titles`;
  return {
    kind: 'day_held',
    dedupeKey: `day_held:${day.date}`,
    message: `${day.date} is held: ${why}`,
    date: day.date,
    pullId: day.pullId,
  };
}

export interface OpenRejects {
  readonly date: CivilDate;
  readonly rejects: number;
  readonly pullId: bigint;
}

export function openRejectsAlert(open: OpenRejects): Alert {
  const titles = `${open.rejects} ${open.rejects === 1 ? 'title' : 'titles'}`;
  return {
    kind: 'day_attention',
    dedupeKey: `day_attention:${open.date}`,
    message: `${open.date} lacks ${titles} that broke the contract`,
    date: open.date,
    pullId: open.pullId,
  };
}

export function restatedDayAlert(day: {
  readonly date: CivilDate;
  readonly pullId: bigint | null;
}): Alert {
  return {
    kind: 'restated_after_sign_off',
    dedupeKey: `restated_after_sign_off:${day.date}`,
    message: `the platform restated ${day.date} after it was signed off`,
    date: day.date,
    pullId: day.pullId,
  };
}

export interface AlteredDate {
  readonly date: CivilDate;
  /** Findings that no person has acknowledged. */
  readonly findings: number;
  /** `title.id` of some of the titles, in order. */
  readonly titleIds: readonly bigint[];
  /** The newest pull that repairs the date; null: none was requested. */
  readonly pullId: bigint | null;
}

/** Titles that the message of one alert names. */
export const ALTERED_TITLES_NAMED = 5;

export function alteredDateAlert({ date, findings, titleIds, pullId }: AlteredDate): Alert {
  const named = titleIds.map((id) => `title ${id}`).join(', ');
  const differences = findings === 1 ? '1 difference' : `${findings} differences`;
  return {
    kind: 'titles_altered',
    dedupeKey: `titles_altered:${date}`,
    message:
      `the tables of ${date} were altered outside of a merge: ${differences}` +
      (named === '' ? '' : ` (${named}${titleIds.length < findings ? ' and more' : ''})`),
    date,
    pullId,
  };
}

export interface RefusedProviders {
  /** On which the ERP wrote the rows as they are, in the configured time zone. */
  readonly writtenDate: CivilDate;
  /** By the platform. */
  readonly rejected: number;
  /** By the check before the request. */
  readonly invalid: number;
}

/**
 * One for each date on which such rows were written, so that what is refused tomorrow is told even
 * while nobody has mended what was refused today.
 */
export function refusedProvidersAlert(refused: RefusedProviders): Alert {
  const parts = [
    ...(refused.rejected > 0 ? [`${refused.rejected} rejected by the platform`] : []),
    ...(refused.invalid > 0 ? [`${refused.invalid} invalid and not sent`] : []),
  ];
  return {
    kind: 'provider_rejected',
    dedupeKey: `provider_rejected:${refused.writtenDate}`,
    message: `of the providers written on ${refused.writtenDate}, ${parts.join(', ')}`,
    // Not an accepted date: no day of the ledger is concerned.
    date: null,
    pullId: null,
  };
}

export interface FailingPush {
  readonly pending: number;
  readonly errorCode: string;
}

/** How long pushing may fail before somebody is told. */
export const PUSH_FAILING_MINUTES = 60;

export function failingPushAlert({ pending, errorCode }: FailingPush): Alert {
  const providers = `${pending} ${pending === 1 ? 'provider waits' : 'providers wait'}`;
  return {
    kind: 'push_failing',
    dedupeKey: 'push_failing',
    message: `pushing has failed for over an hour (${errorCode}), ${providers}`,
    date: null,
    pullId: null,
  };
}

export interface ChangedAccounts {
  /** The pull that brought the titles. */
  readonly pullId: bigint;
  readonly changes: number;
  /** Of the titles; null where they differ in it. */
  readonly acceptedDate: CivilDate | null;
}

/** One for each pull, so that a change is told however many older ones wait for a person. */
export function changedAccountsAlert({ pullId, changes, acceptedDate }: ChangedAccounts): Alert {
  const parties = changes === 1 ? '1 party' : `${changes} parties`;
  return {
    kind: 'account_changed',
    dedupeKey: `account_changed:${pullId}`,
    message: `titles of pull ${pullId} name another bank account than before for ${parties}`,
    date: acceptedDate,
    pullId,
  };
}

export interface NewDrift {
  /** The first pull whose response had it. */
  readonly pullId: bigint;
  readonly date: CivilDate | null;
  /** Some of the places in the response, in order. */
  readonly paths: readonly string[];
  /** All of the places. */
  readonly pathCount: number;
}

/** Paths that the message of one alert names. */
export const DRIFT_PATHS_NAMED = 5;

/** One for each pull, so that what is new tomorrow is told while today's waits for a person. */
export function contractDriftAlert({ pullId, date, paths, pathCount }: NewDrift): Alert {
  const named = paths.slice(0, DRIFT_PATHS_NAMED).map(toSafePath);
  const more = pathCount - named.length;
  return {
    kind: 'contract_drift',
    dedupeKey: `contract_drift:${pullId}`,
    message:
      `the response to pull ${pullId} has fields or values that the documented interface does not ` +
      `have: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    date,
    pullId,
  };
}

/**
 * Alerts hold no personal data, and the name of an undocumented field may be any text of the platform. A
 * name that is no ordinary identifier, or that has as many digits in a row as a tax identifier's part,
 * stands as `…`.
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

/** At most one alert about tokens and one about clocks, however many processes have the fault. */
export function faultyProcessAlerts(faulty: readonly FaultyProcesses[]): Alert[] {
  const countOf = (fault: ProcessFault) =>
    faulty.find(({ kind }) => kind === fault)?.processes ?? 0;
  const [refused, unusable] = [countOf('token_refused'), countOf('token_unusable')];
  const skewed = countOf('clock_skew');
  const ofProcesses = (count: number) => `${count} ${count === 1 ? 'process' : 'processes'}`;
  return [
    ...(refused + unusable > 0
      ? [
          processAlert(
            'platform_auth',
            refused > 0
              ? `the platform refuses the token of ${ofProcesses(refused)}: nothing is pulled or pushed there until the token is replaced`
              : `${ofProcesses(unusable)} cannot read a usable token: nothing is pulled or pushed there until there is one`,
          ),
        ]
      : []),
    ...(skewed > 0
      ? [
          processAlert(
            'clock_skew',
            `the clock of ${ofProcesses(skewed)} differs from the clock of the database by more than two minutes: nothing is planned there`,
          ),
        ]
      : []),
  ];
}

function processAlert(kind: AlertKind, message: string): Alert {
  return { kind, dedupeKey: kind, message, date: null, pullId: null };
}

/** How far the checkpoint may be behind, and how long it may stand still, before somebody is told. */
export interface StalenessLimits {
  readonly maxLagDays: number;
  /** Longer than the longest gap between two daily runs. */
  readonly maxIdleHours: number;
}

export const STALENESS_LIMITS: StalenessLimits = { maxLagDays: 3, maxIdleHours: 26 };

/** A backlog that shrinks is no news: days are merged far more often than this while one is worked off. */
const CATCH_UP_IDLE_HOURS = 1;

const HOUR_MS = 3_600_000;

export interface CheckpointProgress {
  readonly startDate: CivilDate;
  readonly lastReconciledDate: CivilDate | null;
  /** When it last advanced. */
  readonly advancedAt: Date;
}

/**
 * The alert for a checkpoint that is behind the last closed date and does not move: for longer than
 * `maxIdleHours`, or, when it is more than `maxLagDays` behind, for longer than an hour. Null when
 * it is neither.
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
  return {
    kind: 'checkpoint_stale',
    dedupeKey: 'checkpoint_stale',
    message:
      checkpoint.lastReconciledDate === null
        ? `no date is reconciled yet, ${behind}`
        : `reconciled only up to ${reached}, ${behind}`,
    date: addDays(reached, 1),
    pullId: null,
  };
}
