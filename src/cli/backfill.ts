import { setTimeout as sleep } from 'node:timers/promises';
import { withBackfillEngine } from '../app/engine.ts';
import type { Database } from '../base/database/database.ts';
import { ConfigError, InputError } from '../base/runtime/errors.ts';
import type { AuthGate } from '../core/work/auth-gate.ts';
import {
  type BackfillProgress,
  createBackfill,
  MAX_BACKFILL_CONCURRENCY,
  readBackfillProgress,
} from '../features/backfills/backfill-ledger.sql.ts';
import {
  type CommandRun,
  command,
  EXIT,
  integerFrom,
  preset,
  required,
  toDate,
  withStaging,
} from './command.ts';
import { formatCount } from './output/table.ts';

const run = command({
  name: 'backfill run',
  does: 'pull a range of dates, day by day',
  words: {
    from: required('<date>', 'first date', toDate),
    to: required('<date>', 'last date, not in the future', toDate),
    concurrency: preset('<n>', 'dates at once', 2, integerFrom(1, MAX_BACKFILL_CONCURRENCY)),
  },
  help: `Every date of the range is pulled once, in any state, by this command and by the services that run. Titles that
did not change are not written. The backfill is a row of the database: Ctrl-C ends the command and not the
backfill, and a running service pulls the other dates. The console's page "Backfills" lists and cancels backfills. One
request at a time is reserved for the pulls that are due today.

Exit status: 0 done, 1 some dates failed, 2 wrong usage, 3 done but some dates are held.

Example: conciliation backfill run --from 2026-01-01 --to 2026-03-31 --concurrency 3`,
  needs: { platform: true },
  run: (context, { from, to, concurrency }) =>
    withStaging(context, (staging) =>
      withBackfillEngine(context, staging, async ({ planner, gate }) => {
        const { by, today } = context;
        const { database } = staging;
        const range = { from, to };
        const id = await createBackfill(database, { range, concurrency, by }, today);
        await planner.runOnce();
        const progress = await follow(context, database, id, gate);
        const { state, total, done, failed, held, titles } = progress;
        const advice =
          state === 'running'
            ? '\nThis command has stopped. A running service pulls the other dates.'
            : failed + held > 0
              ? '\nSee "conciliation status" for the next steps.'
              : '';
        const isFailed = state === 'running' || failed > 0;
        return {
          document: { backfillId: progress.id, state, total, done, failed, held, titles },
          text: `Backfill ${id}: ${countsOf(progress)}.${advice}`,
          exit: isFailed ? EXIT.failed : held > 0 ? EXIT.needsPerson : EXIT.done,
        };
      }),
    ),
});

export const COMMANDS = [run];

const POLL_INTERVAL_MS = 300;

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
