import { RowsLostError } from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import type { Attempt } from '../ledger/pull-ledger.sql.ts';
import { dayWindow } from '../planner/pull-plan.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import { ResponseReader } from '../reader/response-reader.ts';
import { encodeReject, type RejectedTitle } from '../reader/title-row.ts';
import type { PullParts } from '../work/pull-parts.ts';
import { copyRows } from './copy-rows.sql.ts';
import type { KnownDay } from './known-day.sql.ts';
import type { ReadResponse } from './merge.sql.ts';

/** A response whose header has arrived, and what the pull knows beside it. */
export interface FetchedResponse {
  readonly attempt: Attempt;
  readonly response: ConciliationResponse;
  /** The state of the date before the request. */
  readonly known: KnownDay;
  /** Whether the date was over when the request was sent. */
  readonly dateWasClosed: boolean;
}

/**
 * Reads a response and copies its titles and rejects into the staging tables. Ends well only when the
 * document has closed, the transfer has ended cleanly, and PostgreSQL has taken as many rows as titles
 * were read.
 *
 * @throws PlatformContractError when the response is not the documented document
 * @throws PlatformUnavailableError when the transfer broke off
 * @throws StagingUnavailableError if the database becomes unavailable; RowsLostError if a row was not taken
 */
export async function stageResponse(
  { database: { pool }, onProgress }: PullParts,
  { attempt, response, known, dateWasClosed }: FetchedResponse,
  signal: AbortSignal,
): Promise<ReadResponse> {
  const { date, fence } = attempt;
  const reader = new ResponseReader(response, {
    fence,
    window: dayWindow(date),
    known: known.titles,
    versions: new Map([[date, known.contentVersion]]),
    onProgress,
  });
  let copiedRejects = 0;
  const copyRejects = async (rejects: readonly RejectedTitle[]) => {
    if (rejects.length === 0) return;
    const rows = encodeRejects(fence, rejects);
    copiedRejects += await copyRows(pool, 'staged_reject', rows, signal);
  };
  /** Passes on the rows of titles, and copies the rejects on a separate connection meanwhile. */
  async function* titleRows(): AsyncGenerator<Buffer> {
    for await (const { rows, rejects } of reader.read()) {
      await copyRejects(rejects);
      yield* rows;
      reachFaultPoint('mid-copy');
    }
  }

  const copiedTitles = await copyRows(pool, 'staged_title', titleRows(), signal);
  reader.release();
  reachFaultPoint('copy-done');
  const read = reader.result;
  reachFaultPoint('verify');
  // Every title that was read must be a row, or nothing is merged.
  if (copiedTitles !== read.accepted || copiedRejects !== read.rejected) {
    throw new RowsLostError('PostgreSQL took another number of rows than were sent', {
      context: {
        copiedTitles,
        readTitles: read.accepted,
        copiedRejects,
        readRejects: read.rejected,
      },
    });
  }
  return {
    httpStatus: response.httpStatus,
    responseBytes: response.bytesReceived(),
    dateWasClosed,
    known: { baseChangedAt: known.baseChangedAt, titles: read.knownTitles, missing: read.missing },
    accepted: read.accepted,
    rejected: read.rejected,
    fold: read.folds.at(date),
    drift: read.drift,
  };
}

/** One row at a time: a response may have a million short rejects. */
function* encodeRejects(fence: bigint, rejects: readonly RejectedTitle[]): Generator<Buffer> {
  for (const reject of rejects) yield encodeReject(fence, reject);
}
