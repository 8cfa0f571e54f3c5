import { setTimeout as sleep } from 'node:timers/promises';
import { withBackfillEngine } from '../app/engine.ts';
import { requireAbleToPlan, requireAbleToPull } from '../app/parts.ts';
import type { Database } from '../base/database/database.ts';
import { ConfigError, InputError } from '../base/runtime/errors.ts';
import { readCheckpoint } from '../core/ledger/day-ledger.sql.ts';
import type { AuthGate } from '../core/work/auth-gate.ts';
import {
  type BackfillProgress,
  type BackfillRange,
  cancelBackfill,
  createBackfill,
  MAX_BACKFILL_CONCURRENCY,
  readBackfillProgress,
  readBackfills,
} from '../features/backfills/backfill-ledger.sql.ts';
import {
  argument,
  type CommandResult,
  type CommandRun,
  command,
  EXIT,
  flag,
  idOf,
  integerFrom,
  optional,
  preset,
  stagingCommand,
  toDate,
  withStaging,
} from './command.ts';
import { formatCount, renderTable, right } from './output/table.ts';

const POLL_INTERVAL_MS = 300;

const backfill = command({
  name: 'backfill',
  does: 'pull a range of dates, day by day',
  words: {
    // Not required, because the parser would ask the subcommand for them too.
    from: optional('<date>', 'first date', toDate),
    to: optional('<date>', 'last date, not in the future', toDate),
    concurrency: preset('<n>', 'dates at once', 2, integerFrom(1, MAX_BACKFILL_CONCURRENCY)),
    detach: flag('leave the dates to a running service'),
  },
  help: `Every date of the range is pulled once, in any state, by this command and by the services that run. Titles that
did not change are not written. The backfill is a row of the database: Ctrl-C ends the command and not the
backfill, and a running service pulls the other dates. One request at a time is reserved for the pulls that are due
today. With --detach, a running service pulls all dates.

Exit status: 0 done, 1 some dates failed, 2 wrong usage, 3 done but some dates are held.

Example: conciliation backfill --from 2026-01-01 --to 2026-03-31 --concurrency 3`,
  needs: ({ detach }) => ({ platform: !detach }),
  run(run, { from, to, concurrency, detach: isDetached }) {
    if (from === undefined || to === undefined) {
      throw new InputError('backfill needs --from and --to');
    }
    return create(run, { range: { from, to }, concurrency, isDetached });
  },
});

const MAX_LISTED = 50;

const list = stagingCommand({
  name: 'backfill list',
  does: `show the newest ${MAX_LISTED} backfills`,
  help: '',
  async run(database) {
    const backfills = await readBackfills(database.prisma, { offset: 0, limit: MAX_LISTED });
    const heads = ['from', 'to', 'state', ...['pulled', 'failed', 'held', 'of'].map(right), 'by'];
    const table = renderTable(
      [right('number'), ...heads],
      backfills.map(({ id, from, to, state, done, failed, held, total, requestedBy }) => [
        ...[String(id), from, to, state],
        ...[done, failed, held, total].map(formatCount),
        requestedBy,
      ]),
    );
    return {
      document: { backfills },
      text: backfills.length === 0 ? 'There is no backfill.' : table,
    };
  },
});

const cancel = stagingCommand({
  name: 'backfill cancel',
  does: 'stop a backfill; the dates that were pulled stay',
  words: { id: argument('the number of the backfill', idOf('backfill')) },
  help: '',
  async run(database, { id }, { by }) {
    await cancelBackfill(database, id, by);
    return {
      document: { backfillId: Number(id), state: 'cancelled' },
      text: `Backfill ${id} is cancelled; pulled dates stay.`,
    };
  },
});

export const COMMANDS = [backfill, list, cancel];

function create(
  run: CommandRun,
  {
    range,
    concurrency,
    isDetached,
  }: { readonly range: BackfillRange; readonly concurrency: number; readonly isDetached: boolean },
): Promise<CommandResult> {
  const { by, config, logger, today } = run;
  return withStaging(run, async (staging) => {
    const { database } = staging;
    await (isDetached ? requireAbleToPlan : requireAbleToPull)(config, database);
    if (config.startDate === null && (await readCheckpoint(database)) === null) {
      run.progress.say(
        'START_DATE is not set, so the ledger begins yesterday; "conciliation start-date set" corrects the date',
      );
    }
    const id = await createBackfill(database, { range, concurrency, by }, today);
    if (!isDetached) {
      return withBackfillEngine({ config, logger }, staging, async ({ gate }) =>
        resultOf(await follow(run, database, id, gate)),
      );
    }
    return {
      document: { backfillId: Number(id) },
      text: `Backfill ${id} is recorded; a service that runs begins with it within a minute.`,
    };
  });
}

/**
 * Waits until the backfill is done or cancelled, or `signal` aborts.
 * @throws ConfigError when there is no token that the platform accepts
 */
async function follow(
  { progress, signal }: CommandRun,
  database: Database,
  id: bigint,
  gate: AuthGate,
): Promise<BackfillProgress> {
  for (;;) {
    const now = await readBackfillProgress(database, id);
    if (now === null) throw new InputError(`there is no backfill ${id}`);
    if (now.state !== 'running' || signal.aborted) return now;
    if ((await gate.findFault()) !== null) {
      throw new ConfigError([
        `the platform refuses the token; backfill ${id} goes on in a service that has another`,
      ]);
    }
    progress.update(`backfill ${id}: ${countsOf(now)}`);
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

function countsOf({ total, done, failed, held, titles }: BackfillProgress): string {
  return [
    `${formatCount(done)} of ${formatCount(total)} date(s) pulled, ${formatCount(titles)} titles`,
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(held > 0 ? [`${formatCount(held)} held`] : []),
  ].join(', ');
}

function resultOf(progress: BackfillProgress): CommandResult {
  const { id, state, total, done, failed, held, titles } = progress;
  const advice =
    state === 'running'
      ? '\nThis command has stopped. A running service pulls the other dates.'
      : failed + held > 0
        ? '\nSee "conciliation status" for the next steps.'
        : '';
  return {
    document: { backfillId: id, state, total, done, failed, held, titles },
    text: `Backfill ${id}: ${countsOf(progress)}.${advice}`,
    exit: state === 'running' || failed > 0 ? EXIT.failed : held > 0 ? EXIT.needsPerson : EXIT.done,
  };
}
