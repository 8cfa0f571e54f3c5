import type { ClientBase, Pool } from 'pg';
import type { CivilDate } from '../domain/business-day.ts';
import type { NamedAccounts } from '../domain/named-accounts.ts';
import { Occurrences } from '../domain/occurrences.ts';
import { dayWindow } from '../domain/pull-plan.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import { type PullProgress, type ReadCount, readRows } from '../reader/response-rows.ts';
import {
  copyIntoTitle,
  copyRejects,
  copyTitles,
  encodeReject,
  type RejectedTitle,
  type TitleTarget,
} from '../reader/stage.ts';
import { StagingUnavailableError } from '../runtime/errors.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import type { KnownDay } from './known-day.ts';

export interface StageTarget {
  readonly pool: Pool;
  readonly fence: bigint;
  readonly date: CivilDate;
  readonly known: KnownDay;
}

/**
 * Reads a response into the staging tables. Ends well only when the document has closed, the transfer
 * has ended cleanly, and PostgreSQL has taken as many rows as titles were read.
 *
 * @throws PlatformContractError the answer is not the documented document
 * @throws PlatformUnavailableError the transfer broke off
 * @throws StagingUnavailableError the database went away
 */
export function stageResponse(
  response: ConciliationResponse,
  target: StageTarget,
  signal: AbortSignal,
  onProgress?: (progress: PullProgress) => void,
): Promise<ReadCount> {
  const titles: TitleTarget = { table: 'staged_title', fence: target.fence };
  return copyResponse(response, target, titles, { signal, onProgress }, (rows) =>
    copyTitles(target.pool, rows, signal),
  );
}

/**
 * As `stageResponse`, but the titles go straight into `title`.
 * `target.connection` is in the middle of the merge's transaction, which after an error can only be rolled
 * back, to a savepoint or as a whole.
 */
export function loadResponse(
  response: ConciliationResponse,
  target: StageTarget & {
    readonly pullId: bigint;
    readonly connection: ClientBase;
    readonly accounts: NamedAccounts;
  },
  signal: AbortSignal,
  onProgress?: (progress: PullProgress) => void,
): Promise<ReadCount> {
  const { pullId, connection, accounts } = target;
  const titles: TitleTarget = { table: 'title', pullId, occurrences: new Occurrences(), accounts };
  return copyResponse(response, target, titles, { signal, onProgress }, (rows) =>
    copyIntoTitle(connection, rows, signal),
  );
}

async function copyResponse(
  response: ConciliationResponse,
  { pool, fence, date, known }: StageTarget,
  target: TitleTarget,
  {
    signal,
    onProgress,
  }: {
    readonly signal: AbortSignal;
    readonly onProgress: ((progress: PullProgress) => void) | undefined;
  },
  copy: (rows: AsyncIterable<Buffer | string>) => Promise<number>,
): Promise<ReadCount> {
  let copiedRejects = 0;
  const { rows, count, release } = readRows(response, {
    target,
    window: dayWindow(date),
    known: known.titles,
    versions: new Map([[date, known.contentVersion]]),
    onProgress,
    putAside: async (rejects: readonly RejectedTitle[]) => {
      const encoded = rejects.map((reject) => encodeReject(fence, reject));
      copiedRejects += await copyRejects(pool, toSource(encoded), signal);
    },
  });
  const copiedTitles = await copy(rows);
  release();
  reachFaultPoint('copy-done');
  const read = count();
  reachFaultPoint('verify');
  // Every title that was read must be a row, or nothing is merged.
  if (copiedTitles !== read.accepted || copiedRejects !== read.rejected) {
    throw new StagingUnavailableError('PostgreSQL took another number of rows than were sent', {
      context: {
        copiedTitles,
        readTitles: read.accepted,
        copiedRejects,
        readRejects: read.rejected,
      },
    });
  }
  return read;
}

async function* toSource(rows: readonly string[]): AsyncGenerator<string> {
  yield* rows;
}
