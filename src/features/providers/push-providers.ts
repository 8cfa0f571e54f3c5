/**
 * providers/ sends the ERP's providers to the platform: pending rows are checked, sent in requests of at most
 * a hundred, and marked with the result. A refused request is halved until each faulty provider was sent
 * alone. This file handles one batch, from the check to the last answer. A crash loses nothing: a row
 * is pending until an answer about its present content was recorded, and a row may be sent twice.
 */

import type { Database } from '../../base/database/database.ts';
import {
  ConciliationError,
  PlatformAuthError,
  PlatformRateLimitedError,
  ShutdownError,
  StagingUnavailableError,
  TokenUnusableError,
} from '../../base/runtime/errors.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { isObject } from '../../base/values/field-fault.ts';
import { toStopReason } from '../../core/platform/http-origin.ts';
import {
  MAX_PROVIDERS_PER_REQUEST,
  type ProvidersClient,
} from '../../core/platform/providers-client.ts';
import { backoffDelayMs, type RetryPolicy } from '../../core/work/run-pull.ts';
import { checkProvider, type Provider } from './provider.ts';
import {
  type CheckOutcome,
  countFailuresInARow,
  endBatch,
  keepUnderWay,
  openBatch,
  type PendingProvider,
  type RecordedAnswer,
  readNewestBatch,
  readPendingProviders,
  recordAnswer,
  recordChecks,
  relieveProviders,
  type SentProvider,
} from './provider-batches.sql.ts';

export interface PushParts {
  readonly database: Database;
  readonly platform: ProvidersClient;
  readonly logger: Logger;
  readonly retry: RetryPolicy;
  /** Called with the status after each request, except interrupted ones; null: there was no answer. */
  readonly onRequest?: (httpStatus: number | null) => void;
  /** The random source of the backoff; replaced in tests. */
  readonly random?: () => number;
}

/** Counts of rows; all zero if there was no work. */
export interface PushCounts {
  readonly requests: number;
  readonly synced: number;
  readonly rejected: number;
  readonly invalid: number;
  /** Rows that were not sent, because the platform has their content. */
  readonly unchanged: number;
  /** Rows that are pending again, because another row has let go of their tax identifier. */
  readonly relieved: number;
}

/**
 * The outcome of one batch. `busy`: another process is pushing, and goes on with the rows. `retry`,
 * `unauthorized` and `failed`: a request decided nothing, its rows are still pending, and
 * `readPushDelayMs` waits for `delayMs`. After `failed` and `unauthorized` a person has to act.
 */
export type PushReport = PushCounts &
  ({ readonly kind: 'done' } | { readonly kind: 'busy' } | FailedRequest);

interface FailedRequest {
  readonly kind: 'retry' | 'unauthorized' | 'failed';
  readonly delayMs: number;
  readonly error: ConciliationError;
}

/**
 * Statuses that refuse the content of a request. 400 is documented. Gateways or later versions of
 * the platform may use the others for the same purpose.
 */
const REFUSALS: ReadonlySet<number> = new Set([400, 409, 413, 422]);

/** The stored length of `provider.last_error`. `provider_batch` has the complete answer. */
const MAX_REFUSAL_CHARACTERS = 2000;

/** The state of one call of `pushOnce`: its counts, and the open request. */
interface PushRun {
  readonly parts: PushParts;
  readonly signal: AbortSignal;
  readonly stopping: AbortSignal;
  readonly counts: { -readonly [Count in keyof PushCounts]: number };
  /** The newest request of any process, as far as this run knows. */
  newestId: bigint | null;
  open: { readonly batchId: bigint; answer: RecordedAnswer } | null;
}

/** Another process has begun a request. */
class BusyError extends Error {}

/**
 * Checks pending rows and pushes the next batch, with all requests that are necessary to isolate
 * faulty rows. Only one batch is active at a time, over all processes on the database.
 * @param signal aborts the open request; the platform may still apply it, without a record here
 * @param stopping starts no further request, and lets the open one end
 * @throws ShutdownError when either aborted; rows without an answer are pending
 * @throws StagingUnavailableError when an outcome could not be recorded; its rows are pending
 * @throws any other error for a defect of the program
 */
export async function pushOnce(
  parts: PushParts,
  signal: AbortSignal,
  stopping: AbortSignal = signal,
): Promise<PushReport> {
  const counts = { requests: 0, synced: 0, rejected: 0, invalid: 0, unchanged: 0, relieved: 0 };
  const newest = await readNewestBatch(parts.database.prisma);
  if (newest.isUnderWay) return { kind: 'busy', ...counts };
  const run: PushRun = {
    parts,
    signal,
    stopping: AbortSignal.any([signal, stopping]),
    counts,
    newestId: newest.id,
    open: null,
  };
  try {
    const { checked, ...gathered } = await gatherBatch(parts.database);
    Object.assign(counts, gathered);
    await isolateCulprits(checked, (items) => request(run, items));
    if (counts.requests > 0 || counts.invalid > 0) {
      const message = counts.requests > 0 ? 'providers pushed' : 'no provider to push';
      parts.logger.info({ ...counts }, message);
    }
    return { kind: 'done', ...counts };
  } catch (error) {
    if (error instanceof BusyError) return { kind: 'busy', ...counts };
    return { ...(await endFailedRequest(run, error)), ...counts };
  }
}

/** Makes one request: records it, sends it, and records its answer, in this order. */
async function request(run: PushRun, items: readonly CheckedProvider[]): Promise<Verdict> {
  const { database, platform } = run.parts;
  if (run.stopping.aborted) throw toStopReason(run.stopping);
  const batch = await openBatch(
    database,
    run.newestId,
    items.map(({ row }) => row),
  );
  if (batch === 'busy') throw new BusyError();
  // All rows have changed since the check. Another batch sends them.
  if (batch === null) return 'taken';
  run.newestId = batch.batchId;
  run.open = { batchId: batch.batchId, answer: { httpStatus: null, text: null } };
  run.counts.requests += 1;
  const externalIds = new Set(batch.externalIds);
  const sent = items.filter(({ row }) => externalIds.has(row.externalId));

  const underWay = keepUnderWay(database, batch.batchId);
  const { httpStatus, body, error } = await platform
    .pushProviders(
      sent.map(({ provider }) => provider),
      AbortSignal.any([run.signal, underWay.lost]),
    )
    .finally(underWay.end);
  const answer = { httpStatus, text: toAnswerText(body) };
  run.open.answer = answer;
  if (error !== null && !REFUSALS.has(httpStatus)) throw error;

  const isRefused = error !== null;
  const refusals = isRefused
    ? new Map(sent.map(({ row }) => [row.externalId, toRefusal(answer)]))
    : findRefusals(body, externalIds);
  // The refusal of a request with several rows does not name the faulty row.
  const decided = isRefused && sent.length > 1 ? [] : sent;
  const { synced, rejected } = await recordAnswer(
    database,
    batch.batchId,
    answer,
    decided.map(({ row }) => ({ ...row, refusal: refusals.get(row.externalId) ?? null })),
  );
  run.open = null;
  run.counts.synced += synced;
  run.counts.rejected += rejected;
  run.parts.onRequest?.(httpStatus);
  return isRefused ? 'refused' : 'taken';
}

function toRefusal({ httpStatus, text }: { httpStatus: number; text: string }): string {
  const said = text.trim() === '' ? 'without a word' : text.slice(0, MAX_REFUSAL_CHARACTERS);
  return `the platform answered ${httpStatus}: ${said}`;
}

/** Records why the open request decided nothing, and returns when it may be retried. */
async function endFailedRequest(run: PushRun, error: unknown): Promise<FailedRequest> {
  const { open, counts } = run;
  const { database, logger, retry, random = Math.random, onRequest } = run.parts;
  // Without an open request, or without a database, there is nothing to record. The row of the
  // request stays without an answer, as after a crash.
  if (open === null || error instanceof StagingUnavailableError) throw error;
  const { batchId, answer } = open;
  const known = error instanceof ConciliationError ? error : null;
  const isInterrupted = error instanceof ShutdownError;
  // 403 means that the token may not push. It may still be valid for pulls, which must not stop.
  const isUnauthorized =
    error instanceof TokenUnusableError ||
    (error instanceof PlatformAuthError && answer.httpStatus !== 403);
  let delayMs = 0;
  // A push waits for another token, and may continue when there is one.
  if (!isInterrupted && !isUnauthorized) {
    const failures = await countFailuresInARow(database);
    const least = error instanceof PlatformRateLimitedError ? error.retryAfterSeconds : null;
    delayMs = backoffDelayMs(retry, failures + 1, least, random());
  }
  const retryDelayMs = isInterrupted ? null : delayMs;
  const failure = { errorCode: known?.code ?? 'DEFECT', delayMs: retryDelayMs };
  await endBatch(database.prisma, batchId, answer, failure);
  logger.warn(
    { ...counts, batchId: String(batchId), retryDelayMs, err: error },
    'provider request failed',
  );
  if (isInterrupted) throw error;
  onRequest?.(answer.httpStatus);
  if (known === null) throw error;
  const kind = isUnauthorized ? 'unauthorized' : known.retryable ? 'retry' : 'failed';
  return { kind, delayMs, error: known };
}

/** A pending row that passed the check, and its request item. */
interface CheckedProvider {
  readonly row: SentProvider;
  readonly provider: Provider;
}

/**
 * Checks pending rows, the longest waiting first, until a request is full or no row is left.
 * @returns with at most `MAX_PROVIDERS_PER_REQUEST` rows
 */
async function gatherBatch(database: Database) {
  const relieved = await relieveProviders(database);
  const checked: CheckedProvider[] = [];
  let invalid = 0;
  let unchanged = 0;
  let last: PendingProvider | null = null;
  for (;;) {
    const page = await readPendingProviders(database, last, MAX_PROVIDERS_PER_REQUEST);
    const outcomes: CheckOutcome[] = [];
    for (const row of page) {
      const outcome = checkRow(row);
      if ('faults' in outcome) outcomes.push(outcome);
      else checked.push(outcome);
    }
    if (outcomes.length > 0) {
      const recorded = await recordChecks(database, outcomes);
      invalid += recorded.invalid;
      unchanged += recorded.synced;
    }
    last = page.at(-1) ?? null;
    if (page.length < MAX_PROVIDERS_PER_REQUEST || checked.length >= MAX_PROVIDERS_PER_REQUEST) {
      break;
    }
  }
  return { checked: checked.slice(0, MAX_PROVIDERS_PER_REQUEST), invalid, unchanged, relieved };
}

function checkRow(row: PendingProvider): CheckOutcome | CheckedProvider {
  if (row.isUnchanged) return { row, faults: null };
  const check = checkProvider(row.candidate);
  if (!check.ok) return { row, faults: check.faults };
  const { externalId, contentHash } = row;
  const taxId = check.provider.identificationNumber;
  return { row: { externalId, contentHash, taxId }, provider: check.provider };
}
/** `taken`: nothing of the request is left to decide. `refused`: a part of it is wrong. */
export type Verdict = 'taken' | 'refused';

/**
 * Sends all items in one request. If that is refused, sends halves, until each faulty item was sent
 * alone. One faulty item among `n` costs at most 2·⌈log₂ n⌉ further requests; fewer if the first of
 * two halves is taken, because the second then contains it and is halved without a request. A wrong
 * guess has no effect on the result: an item is judged only by its own request. A platform that
 * refuses a request for another reason costs additional requests.
 * @param hasCulprit whether one of several items is known to be faulty
 */
export async function isolateCulprits<T>(
  items: readonly T[],
  ask: (items: readonly T[]) => Promise<Verdict>,
  hasCulprit = false,
): Promise<Verdict> {
  if (items.length === 0) return 'taken';
  const isAsked = !hasCulprit || items.length === 1;
  if (isAsked && (await ask(items)) === 'taken') return 'taken';
  if (items.length === 1) return 'refused';
  const half = Math.ceil(items.length / 2);
  const first = await isolateCulprits(items.slice(0, half), ask);
  await isolateCulprits(items.slice(half), ask, first === 'taken');
  return 'refused';
}
/** The stored length of `provider_batch.answer`. */
const MAX_KEPT_BYTES = 64 * 1024;

/** Returns the body as text for PostgreSQL: invalid UTF-8 and U+0000 become U+FFFD. */
function toAnswerText(body: Buffer): string {
  return toStorableText(body.subarray(0, MAX_KEPT_BYTES).toString('utf8'));
}

/** Replaces U+0000 and lone surrogates, which JSON can express and PostgreSQL cannot hold, with U+FFFD. */
function toStorableText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

/** Statuses that mean a provider was not accepted, in any case. Other statuses are ignored. */
const REFUSED_STATUSES: ReadonlySet<string> = new Set([
  'REJECTED',
  'REFUSED',
  'INVALID',
  'ERROR',
  'FAILED',
]);

/**
 * Returns the providers that a 200 reports as not accepted, with the report. The documentation
 * mentions a status per provider without an example, so only an unambiguous form counts: a list of
 * objects with an `externalId` of this request and a `status` in `REFUSED_STATUSES`. Other bodies
 * and other objects are ignored.
 * @returns by external id; may hold personal data
 */
export function findRefusals(body: Buffer, externalIds: ReadonlySet<string>): Map<string, string> {
  const refusals = new Map<string, string>();
  for (const entry of listsIn(parseJson(body))) {
    if (!isObject(entry)) continue;
    const { externalId, status } = entry;
    if (typeof externalId !== 'string' || !externalIds.has(externalId)) continue;
    if (typeof status !== 'string' || !REFUSED_STATUSES.has(status.toUpperCase())) continue;
    const said = toStorableText(JSON.stringify(entry).slice(0, MAX_REFUSAL_CHARACTERS));
    refusals.set(externalId, `the platform answered 200 with ${said}`);
  }
  return refusals;
}

/** The items of the body, or of the lists that are fields of the body. */
function listsIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value).filter(Array.isArray).flat() : [];
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
