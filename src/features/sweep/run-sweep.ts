/**
 * sweep/ requests every title accepted since a date and compares each date with the ledger. It merges
 * nothing: a date that differs gets a pull. This file is one attempt, from the request to the comparison.
 */
import { readClock } from '../../base/database/clock.ts';
import {
  type ConciliationError,
  PlatformAuthError,
  ShutdownError,
  StagingUnavailableError,
  TokenUnusableError,
} from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import { describeError } from '../../base/runtime/logger.ts';
import {
  type CivilDate,
  dateIn,
  lastClosedDate,
  toCivilDate,
} from '../../base/values/business-day.ts';
import type { ConciliationResponse } from '../../core/platform/conciliation-client.ts';
import { cutTitles, type RawTitle, TitleCutter } from '../../core/reader/cutter.ts';
import { readExactTitle } from '../../core/reader/exact-title.ts';
import { FastReader } from '../../core/reader/fast-reader.ts';
import { contentHash, TitleFolds } from '../../core/title/title.ts';
import { type PullWindow, sweepWindow } from '../../core/title/title-contract.ts';
import { type PullParts, toKnownError } from '../../core/work/run-pull.ts';
import {
  readPromotedOf,
  recordSweep,
  recordSweepFailure,
  type SweepOrder,
  type SweepRead,
  type SweepReport,
  type SweepRequest,
} from './sweeps.sql.ts';

export type SweepParts = Pick<PullParts, 'database' | 'platform' | 'logger' | 'timeZone' | 'now'>;

/** `unauthorized`: nothing was recorded, and no attempt can succeed until there is another token. */
export type SweepOutcome =
  | { readonly kind: 'done'; readonly report: SweepReport & SweepRead }
  | { readonly kind: 'unauthorized'; readonly error: PlatformAuthError | TokenUnusableError }
  | { readonly kind: 'failed'; readonly error: ConciliationError };

/** The request while it is under way. */
type Progress = { -readonly [Key in keyof SweepRequest]: SweepRequest[Key] };

/**
 * Makes one attempt at a sweep and records its outcome in a row.
 * @returns the outcome, and the status of the answer; null: there was none
 * @throws ShutdownError when `signal` aborted: nothing was recorded
 * @throws StagingUnavailableError when the outcome could not be recorded
 */
export async function runSweep(
  parts: SweepParts,
  { from, slotAt }: SweepOrder,
  signal: AbortSignal,
): Promise<SweepOutcome & { readonly httpStatus: number | null }> {
  const { database, logger } = parts;
  const startedAt = await readClock(database);
  const request: Progress = { from, slotAt, startedAt, httpStatus: null, responseBytes: 0 };
  reachFaultPoint('claim');
  try {
    const report = await compare(parts, request, signal);
    const { folds: _, differences, sweepId, ...counts } = report;
    logger.info(
      { sweepId: String(sweepId), ...request, ...counts, datesDiffering: differences.length },
      'sweep ended',
    );
    return { kind: 'done', report, httpStatus: request.httpStatus };
  } catch (cause) {
    if (signal.aborted) throw new ShutdownError('the sweep was interrupted', { cause });
    const error = toKnownError(cause);
    const statusOfError = error.context['httpStatus'];
    if (typeof statusOfError === 'number') request.httpStatus = statusOfError;
    if (error instanceof PlatformAuthError || error instanceof TokenUnusableError) {
      return { kind: 'unauthorized', error, httpStatus: request.httpStatus };
    }
    if (error instanceof StagingUnavailableError) throw error;
    await recordSweepFailure(database, request, error);
    logger.error({ ...request, err: describeError(cause) }, 'sweep failed');
    return { kind: 'failed', error, httpStatus: request.httpStatus };
  }
}

async function compare(
  { database, platform, timeZone, now = () => new Date() }: SweepParts,
  request: Progress,
  signal: AbortSignal,
): Promise<SweepReport & SweepRead> {
  const { from } = request;
  const promoted = await readPromotedOf(database, from);
  reachFaultPoint('before-request');
  // The time of the request, not the end of the answer, decides which dates are closed.
  const last = lastClosedDate(timeZone, now());
  const response = await platform.fetchTitles(sweepWindow(from), signal);
  reachFaultPoint('headers');
  request.httpStatus = response.httpStatus;
  const today = () => dateIn(timeZone, now());
  const read = await readFolds(response, from, promoted, today).finally(() => {
    request.responseBytes = response.bytesReceived();
  });
  reachFaultPoint('verify');
  const report = await recordSweep(database, request, last, read);
  return { ...read, ...report };
}

/** Also reads the dates of titles outside the requested window. */
const ANY_DATE: PullWindow = sweepWindow(toCivilDate('0001-01-01'));

/**
 * Adds up the titles of a response by accepted date, with the reader of the pulls. Memory does not
 * grow with the response: there is one fold for each date from `from` to today.
 * @param today is called again for a title that is later than the date of the last call
 * @throws PlatformContractError when the response is not the documented document
 * @throws PlatformUnavailableError when the transfer broke off
 */
async function readFolds(
  response: ConciliationResponse,
  from: CivilDate,
  promoted: Awaited<ReturnType<typeof readPromotedOf>>,
  today: () => CivilDate,
): Promise<SweepRead> {
  const folds = new TitleFolds();
  let lastDate = today();
  const fastReader = new FastReader(null, { from, to: lastDate }, folds);
  const cutter = new TitleCutter(fastReader);
  const outside = { undated: 0, future: 0, early: 0 };

  const isFuture = (date: CivilDate) => {
    if (date > lastDate) lastDate = today();
    return date > lastDate;
  };
  const addTitle = (raw: RawTitle) => {
    if (raw.truncated) {
      outside.undated += 1;
      return;
    }
    const check = readExactTitle(raw.bytes, ANY_DATE, raw.offset);
    const date = check.ok ? check.title.accepted_date : check.acceptedDate;
    if (date === null) outside.undated += 1;
    else if (date < from) outside.early += 1;
    else if (isFuture(date)) outside.future += 1;
    else if (check.ok) {
      const hash = contentHash(check.title, promoted.get(date));
      folds.at(date).addBytes(Buffer.from(hash, 'hex'));
      if (check.drift.length > 0) fastReader.admitDrift(check.title);
    }
  };

  for await (const titles of cutTitles(response, cutter)) {
    for (const raw of titles) addTitle(raw);
  }
  return { folds, titles: cutter.titlesRead, ...outside };
}
