/**
 * providers/ carries the ERP's providers to the platform: pending rows are checked, sent at most a hundred
 * at a time, and marked with what became of each; a refused request is halved until each culprit
 * stands alone. This file makes one batch of it, from the right to push to the last answer.
 *
 * Whatever dies in between, nothing is lost: a row is pending until an answer about exactly its
 * present content was recorded, and sending a row twice does no harm.
 */

import type { Database } from '../database/database.ts';
import { backoffDelayMs, type RetryPolicy } from '../domain/retry.ts';
import { toStopReason } from '../platform/http-origin.ts';
import type { ProvidersClient } from '../platform/providers-client.ts';
import {
  ConciliationError,
  PlatformAuthError,
  PlatformRateLimitedError,
  ShutdownError,
  StagingUnavailableError,
  TokenUnusableError,
} from '../runtime/errors.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import { toAnswerText } from './answer-text.ts';
import { type CheckedProvider, gatherBatch } from './gather-batch.ts';
import { isolateCulprits, type Verdict } from './isolate-culprits.ts';
import {
  countFailuresInARow,
  openBatch,
  type RecordedAnswer,
  recordAnswer,
  recordBatchFailure,
} from './provider-batches.sql.ts';
import { findRefusals } from './provider-statuses.ts';
import { type PushLock, tryPushLock } from './push-lock.sql.ts';

export interface PushParts {
  readonly database: Database;
  readonly platform: ProvidersClient;
  readonly logger: Logger;
  readonly retry: RetryPolicy;
  /** Who pushes, for the audit log. */
  readonly actor: string;
  /** Called once a request has ended, interrupted ones aside. */
  readonly onRequest?: (observed: ObservedRequest) => void;
  /** The dice of the backoff; replaced in tests. */
  readonly random?: () => number;
}

/** What became of rows; all zero where there was nothing to do. */
export interface PushCounts {
  readonly requests: number;
  readonly synced: number;
  readonly rejected: number;
  readonly invalid: number;
  /** Not sent, because the platform has exactly this content. */
  readonly unchanged: number;
  /** Pending again, because another row no longer has their tax identifier. */
  readonly relieved: number;
}

/**
 * How one batch ended. `busy`: somebody else is pushing, and nothing was done. `retry`, `unauthorized`
 * and `failed`: a request decided nothing; its rows are pending as before, and `readPushDelayMs` waits for
 * `delayMs`. After `failed` and `unauthorized` a person has to see to it.
 */
export type PushReport = PushCounts &
  ({ readonly kind: 'done' } | { readonly kind: 'busy' } | FailedRequest);

/** `taken` and `refused`: the platform decided; anything else: it decided nothing. */
type RequestOutcome = Verdict | FailedRequest['kind'];

/** How a request ended, as the metrics have it. */
interface ObservedRequest {
  readonly outcome: RequestOutcome;
  /** Null where there was no answer. */
  readonly httpStatus: number | null;
}

interface FailedRequest {
  readonly kind: 'retry' | 'unauthorized' | 'failed';
  readonly delayMs: number;
  readonly error: ConciliationError;
}

/**
 * Answers that refuse the content of a request, as against the request as such. 400 is documented;
 * the others mean the same where a gateway or a later version of the platform gives them.
 */
const REFUSALS: ReadonlySet<number> = new Set([400, 409, 413, 422]);

/** Failures that make the next wait longer. */
const COUNTED_CODES = [
  'PLATFORM_UNAVAILABLE',
  'PLATFORM_RATE_LIMITED',
  'PLATFORM_AUTH',
  'PLATFORM_CONTRACT',
  'CONFIG_INVALID',
  'DEFECT',
];

/** As much of a refusal as `provider.last_error` repeats; `provider_batch` has it whole. */
const MAX_REFUSAL_CHARACTERS = 2000;

/** One call of `pushOnce`: what it has counted, and the request that is open. */
interface PushRun {
  readonly parts: PushParts;
  readonly lock: PushLock;
  readonly signal: AbortSignal;
  readonly stopping: AbortSignal;
  readonly counts: { -readonly [Count in keyof PushCounts]: number };
  open: { readonly batchId: bigint; answer: RecordedAnswer } | null;
}

/**
 * Checks pending rows and pushes the next batch of them, with all the requests that it takes to tell
 * culprits apart. One batch is under way at a time, over all processes on the database.
 *
 * @param signal gives up the request under way: the platform may apply it, and nobody learns of it
 * @param stopping begins no further request, and lets the one under way end
 * @throws ShutdownError when either aborted; what was not answered is pending
 * @throws StagingUnavailableError when an outcome could not be recorded: what was not is pending
 * @throws whatever is not one of our errors: a defect, loudly
 */
export async function pushOnce(
  parts: PushParts,
  signal: AbortSignal,
  stopping: AbortSignal = signal,
): Promise<PushReport> {
  const counts = { requests: 0, synced: 0, rejected: 0, invalid: 0, unchanged: 0, relieved: 0 };
  const lock = await tryPushLock(parts.database);
  if (lock === null) return { kind: 'busy', ...counts };
  const run: PushRun = {
    parts,
    lock,
    signal: AbortSignal.any([signal, lock.lost]),
    stopping: AbortSignal.any([signal, stopping, lock.lost]),
    counts,
    open: null,
  };
  try {
    await pushBatch(run);
    if (counts.requests > 0 || counts.invalid > 0) {
      const message = counts.requests > 0 ? 'providers pushed' : 'no provider to push';
      parts.logger.info({ ...counts }, message);
    }
    return { kind: 'done', ...counts };
  } catch (error) {
    return { ...(await endFailedRequest(run, error)), ...counts };
  } finally {
    await lock.release();
  }
}

async function pushBatch(run: PushRun): Promise<void> {
  const { checked, invalid, unchanged, relieved } = await gatherBatch(
    run.parts.database,
    run.parts.actor,
  );
  Object.assign(run.counts, { invalid, unchanged, relieved });
  await isolateCulprits(checked, (items) => request(run, items));
}

/** One request: recorded, sent, and its answer recorded, in this order. */
async function request(run: PushRun, items: readonly CheckedProvider[]): Promise<Verdict> {
  const { database, platform, actor } = run.parts;
  if (run.stopping.aborted) throw toStopReason(run.stopping);
  const batch = await openBatch(
    database,
    run.lock,
    items.map(({ row }) => row),
  );
  // All of them changed since they were checked: they are other rows now, for another batch.
  if (batch === null) return 'taken';
  run.open = { batchId: batch.batchId, answer: { httpStatus: null, text: null } };
  run.counts.requests += 1;
  const externalIds = new Set(batch.externalIds);
  const sent = items.filter(({ row }) => externalIds.has(row.externalId));

  const { httpStatus, body, error } = await platform.pushProviders(
    sent.map(({ provider }) => provider),
    run.signal,
  );
  const answer = { httpStatus, text: toAnswerText(body) };
  run.open.answer = answer;
  if (error !== null && !REFUSALS.has(httpStatus)) throw error;

  const isRefused = error !== null;
  const refusals = isRefused
    ? new Map(sent.map(({ row }) => [row.externalId, toRefusal(answer)]))
    : findRefusals(body, externalIds);
  // Of a request that was refused as a whole nobody knows which row is to blame, unless it is alone.
  const decided = isRefused && sent.length > 1 ? [] : sent;
  const { synced, rejected } = await recordAnswer(
    database,
    run.lock,
    batch.batchId,
    answer,
    decided.map(({ row }) => ({ ...row, refusal: refusals.get(row.externalId) ?? null })),
    actor,
  );
  run.open = null;
  run.counts.synced += synced;
  run.counts.rejected += rejected;
  const outcome = isRefused ? 'refused' : 'taken';
  run.parts.onRequest?.({ outcome, httpStatus });
  return outcome;
}

function toRefusal({ httpStatus, text }: { httpStatus: number; text: string }): string {
  const said = text.trim() === '' ? 'without a word' : text.slice(0, MAX_REFUSAL_CHARACTERS);
  return `the platform answered ${httpStatus}: ${said}`;
}

/** Records why the open request decided nothing, and says when it may be tried again. */
async function endFailedRequest(run: PushRun, error: unknown): Promise<FailedRequest> {
  const { parts, open } = run;
  // Without an open request, or a database to record it in, there is nothing to add: the row of the
  // request stays without an answer, as after a crash.
  if (open === null || error instanceof StagingUnavailableError) throw error;
  const known = error instanceof ConciliationError;
  const delayMs =
    error instanceof ShutdownError ? null : await nextDelayMs(parts, error, open.answer.httpStatus);
  await recordBatchFailure(parts.database, open.batchId, open.answer, {
    errorCode: known ? error.code : 'DEFECT',
    delayMs,
  });
  parts.logger.warn(
    {
      ...run.counts,
      batchId: String(open.batchId),
      retryDelayMs: delayMs,
      err: describeError(error),
    },
    'provider request failed',
  );
  if (delayMs === null) throw error;
  const kind = toFailureKind(error, open.answer.httpStatus);
  parts.onRequest?.({ outcome: kind, httpStatus: open.answer.httpStatus });
  if (!known) throw error;
  return { kind, delayMs, error };
}

function toFailureKind(error: unknown, httpStatus: number | null): FailedRequest['kind'] {
  if (waitsForToken(error, httpStatus)) return 'unauthorized';
  return error instanceof ConciliationError && error.retryable ? 'retry' : 'failed';
}

/** 403 says that the token may not push. It may well be good for pulls, which must not stop for it. */
function waitsForToken(error: unknown, httpStatus: number | null): boolean {
  return (
    error instanceof TokenUnusableError ||
    (error instanceof PlatformAuthError && httpStatus !== 403)
  );
}

async function nextDelayMs(
  parts: PushParts,
  error: unknown,
  httpStatus: number | null,
): Promise<number> {
  // Whoever pushes waits for another token, and need not wait any longer once there is one.
  if (waitsForToken(error, httpStatus)) return 0;
  const failures = await countFailuresInARow(parts.database, COUNTED_CODES);
  return backoffDelayMs(
    parts.retry,
    failures + 1,
    error instanceof PlatformRateLimitedError ? error.retryAfterSeconds : null,
    (parts.random ?? Math.random)(),
  );
}
