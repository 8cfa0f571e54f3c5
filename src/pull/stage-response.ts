import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientBase, Pool } from 'pg';
import { NamedAccounts } from '../domain/named-accounts.ts';
import { Occurrences } from '../domain/occurrences.ts';
import type { PullWindow } from '../domain/pull-plan.ts';
import { StagingUnavailableError } from '../errors.ts';
import { reachFaultPoint } from '../fault-points.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import type { KnownDates } from '../staging/known-dates.ts';
import {
  copyIntoTitle,
  copyRejects,
  copyTitles,
  encodeReject,
  type RejectedTitle,
} from '../staging/stage.ts';
import type { ArrivingResponse } from './arriving-response.ts';
import { type PullProgress, type ReadCount, type Reading, readRows } from './response-rows.ts';

export interface StageTarget {
  readonly pool: Pool;
  readonly fence: bigint;
  readonly window: PullWindow;
  readonly known: KnownDates;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

/**
 * Reads a response into the staging tables. Ends well only when the document has closed, the transfer
 * has ended cleanly, and PostgreSQL has taken as many rows as titles were read.
 *
 * @throws PlatformContractError the answer is not the documented document
 * @throws PlatformUnavailableError the transfer broke off
 * @throws StagingUnavailableError the database went away
 */
export async function stageResponse(
  response: ConciliationResponse,
  target: StageTarget,
): Promise<ReadCount> {
  let copiedRejects = 0;
  const reading = readRows(response, {
    ...target,
    target: { table: 'staged_title', fence: target.fence },
    putAside: async (rejects) => {
      copiedRejects += await stageRejects(target, rejects);
    },
  });
  const copiedTitles = await copyTitles(target.pool, inCopy(reading.rows), target.signal);
  return endCopy(reading, copiedTitles, copiedRejects);
}

/** A response on its way into `title`. */
export interface TitleLoad {
  /** The bank accounts that it names, once it is copied. */
  readonly accounts: NamedAccounts;
  /**
   * As `stageResponse`, but the titles go straight into `title`: on a connection in the middle of the
   * merge's transaction, which can only be rolled back after an error.
   */
  copy(connection: ClientBase): Promise<ReadCount>;
  /** Ends when the response is not read any more, copied or not. */
  end(): Promise<void>;
}

/**
 * A response that is in memory is read while the transaction is being opened and waits for its locks, so that
 * these are held for no longer than PostgreSQL takes for the rows; any other, as it arrives.
 */
export function beginLoad(
  response: ArrivingResponse,
  target: StageTarget & { readonly pullId: bigint },
): TitleLoad {
  const accounts = new NamedAccounts();
  const { pullId } = target;
  // Before it is certain that the response is loaded, nothing of it may be in the tables.
  const rejects: RejectedTitle[] = [];
  let copiedRejects = 0;
  const copyWaiting = async () => {
    copiedRejects += await stageRejects(target, rejects.splice(0));
  };
  const reading = readRows(response, {
    ...target,
    target: { table: 'title', pullId, occurrences: new Occurrences(), accounts },
    putAside: async (batch) => {
      rejects.push(...batch);
      if (!response.isWhole) await copyWaiting();
    },
  });
  const { rows, ended } = response.isWhole ? readAhead(reading.rows) : asAsked(reading.rows);
  return {
    accounts,
    async copy(connection) {
      const copiedTitles = await copyIntoTitle(connection, inCopy(rows), target.signal);
      if (rejects.length > 0) await copyWaiting();
      return endCopy(reading, copiedTitles, copiedRejects);
    },
    end: () => ended,
  };
}

interface Rows {
  readonly rows: AsyncIterable<Buffer | string>;
  readonly ended: Promise<void>;
}

const asAsked = (rows: Rows['rows']): Rows => ({ rows, ended: Promise.resolve() });

/** Takes rows before anybody asks for them, and gives way after each piece. */
function readAhead(source: Rows['rows']): Rows {
  const items: (Buffer | string)[] = [];
  let isDone = false;
  let wake = () => {};
  const reading = (async () => {
    for await (const item of source) {
      items.push(item);
      wake();
      await nextTurn();
    }
  })();
  const ended = reading
    .catch(() => {})
    .finally(() => {
      isDone = true;
      wake();
    });
  async function* rows(): AsyncGenerator<Buffer | string> {
    for (let at = 0; !isDone || at < items.length; ) {
      const item = items[at];
      if (item === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      at += 1;
      yield item;
    }
    await reading;
  }
  return { rows: rows(), ended };
}

async function* inCopy(rows: Rows['rows']): AsyncGenerator<Buffer | string> {
  for await (const item of rows) {
    yield item;
    reachFaultPoint('mid-copy');
  }
}

function stageRejects(
  { pool, fence, signal }: StageTarget,
  rejects: readonly RejectedTitle[],
): Promise<number> {
  const encoded = rejects.map((reject) => encodeReject(fence, reject));
  return copyRejects(pool, toSource(encoded), signal);
}

/** Every title that was read must be a row, or nothing is merged. */
function endCopy(reading: Reading, copiedTitles: number, copiedRejects: number): ReadCount {
  reading.release();
  reachFaultPoint('copy-done');
  const read = reading.count();
  reachFaultPoint('verify');
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
