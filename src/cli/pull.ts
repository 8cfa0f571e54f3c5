import { setTimeout as sleep } from 'node:timers/promises';
import { FEATURES } from '../app/features.ts';
import { openPlatform, openPulls, openToken } from '../app/parts.ts';
import { requireSameClock } from '../base/database/clock.ts';
import { InputError, ShutdownError, TokenUnusableError } from '../base/runtime/errors.ts';
import { cancelPull, createPull } from '../core/ledger/pull-ledger.sql.ts';
import type { PullReport } from '../core/merge/merge.sql.ts';
import { type AttemptOutcome, type PullParts, runPull } from '../core/work/run-pull.ts';
import { checkDays } from '../features/checks/check-day.sql.ts';
import { readLedgerDay } from '../features/review/ledger-days.sql.ts';
import { argument, command, EXIT, toDate, withStaging } from './command.ts';
import { formatCount, renderTable, right } from './output/table.ts';

type EndOutcome = Exclude<AttemptOutcome, { kind: 'retry' }>;
type RetryOutcome = Extract<AttemptOutcome, { kind: 'retry' }>;

/**
 * Makes attempts, with waits between them, until the pull has ended, for a command that a person waits for.
 * When the person stops the command, or the platform refuses the token, the pull is cancelled, because no
 * other process continues it.
 *
 * @param onRetry called before each wait
 * @throws ShutdownError when `signal` aborted; TokenUnusableError when there is no usable token
 */
export async function pullToEnd(
  parts: PullParts,
  pullId: bigint,
  signal: AbortSignal,
  onRetry: (outcome: RetryOutcome) => void,
): Promise<EndOutcome> {
  const cancel = () => cancelPull(parts.database, pullId);
  try {
    for (;;) {
      const outcome = await runPull(parts, pullId, signal);
      if (outcome.kind === 'unauthorized') {
        await cancel();
        if (outcome.error instanceof TokenUnusableError) throw outcome.error;
      }
      if (outcome.kind !== 'retry') return outcome;
      onRetry(outcome);
      await sleep(outcome.delayMs, undefined, { signal }).catch((cause: unknown) => {
        throw new ShutdownError('stopped while waiting for the next attempt', { cause });
      });
    }
  } catch (error) {
    if (error instanceof ShutdownError) await cancel();
    throw error;
  }
}

const pull = command({
  name: 'pull',
  does: 'pull one date now and print the changes',
  words: { date: argument('the accepted date, YYYY-MM-DD, not in the future', toDate) },
  help: `Asks the platform for the titles accepted on <date> and merges them into the staging tables. Makes as
many attempts as PULL_ATTEMPTS allows, waiting between them. Pulling a date again is always safe:
titles that did not change are not written.

Exit status: 0 merged or unchanged, 1 failed, 2 wrong usage, 3 merged but a person must look (rejected
titles, a date that is held, a signed day that was restated, changed bank accounts, or findings).

Example: conciliation pull 2026-03-02`,
  needs: { platform: true },
  async run(run, { date }) {
    const { config, logger, progress, signal, today } = run;
    if (date > today) {
      throw new InputError(
        `<date>: ${date} is in the future; it is ${today} in ${config.timezone}`,
      );
    }
    return withStaging(run, async (staging) => {
      const { database } = staging;
      const token = openToken(config);
      // What would stop the pull, before the ledger is written.
      await token.current();
      await requireSameClock(database);
      const platform = openPlatform(config, token);
      const parts = await openPulls(config, logger, staging, { platform, features: FEATURES });
      const pullId = await createPull(database, {
        ...{ origin: 'manual', date, requestedBy: 'command line' },
      });
      const observed = {
        ...parts,
        onProgress: ({ titles, bytes }: { titles: number; bytes: number }) =>
          progress.update(
            `${date}: ${formatCount(titles)} titles, ${Math.round(bytes / 1e6)} MB read`,
          ),
      };
      const outcome = await pullToEnd(observed, pullId, signal, (retry) =>
        progress.say(
          `${date}: ${retry.error.message}; next attempt in ${Math.ceil(retry.delayMs / 1000)} s`,
        ),
      ).finally(() => platform.close());
      await checkDays(database, { severities: config.checkSeverities }, signal);
      const { prisma } = database;
      const [day, openRejects, accountChanges] = await Promise.all([
        readLedgerDay(database, date, today),
        prisma.rejectedTitle.count({ where: { date, status: 'open' } }),
        prisma.accountChange.count({ where: { pullId, state: 'open' } }),
      ]);
      if (outcome.kind !== 'done') {
        const { code, message } = outcome.error;
        return {
          document: { pullId: Number(pullId), state: 'failed', error: { code, message } },
          text: `Pull ${pullId} failed and changed nothing: ${message}`,
          exit: EXIT.failed,
        };
      }
      const { isRestated = false, openFindings = 0 } = day ?? {};
      const { report } = outcome;
      const { pullId: _, state, titles, ...counts } = report;
      const open = [
        ...(state === 'held' ? ['the held response'] : []),
        ...(openRejects > 0 ? [`${formatCount(openRejects)} rejected title(s)`] : []),
        ...(openFindings > 0 ? [`${formatCount(openFindings)} finding(s) of the checks`] : []),
        ...(accountChanges > 0 ? [`${formatCount(accountChanges)} changed bank account(s)`] : []),
        ...(isRestated ? ['the difference from the sign-off'] : []),
      ];
      return {
        document: {
          ...{ pullId: Number(pullId), state, titles, rejected: report.rejected },
          // `titles` counts the titles that keep the contract.
          dates: [{ ...counts, outcome: state, titles: titles - report.rejected }],
          ...{ isRestated, accountChanges, openRejects, openFindings },
        },
        text: [
          pullTable(report),
          ...(open.length === 0
            ? []
            : ['', `A person has to review in the console: ${open.join(', ')}.`]),
        ].join('\n'),
        exit: open.length === 0 ? EXIT.done : EXIT.needsPerson,
      };
    });
  },
});

export const COMMANDS = [pull];

function pullTable(report: PullReport): string {
  const counts = ['inserted', 'changed', 'withdrawn', 'restored'] as const;
  const isHeld = report.state === 'held';
  const row = [
    report.date,
    formatCount(report.titles - report.rejected),
    // The counts of a held response are those of a release.
    ...counts.map((name) => (isHeld ? '–' : formatCount(report[name]))),
    formatCount(report.rejected),
    isHeld ? 'held, not merged' : report.state,
  ];
  const heads = ['date', ...['titles', ...counts, 'rejected'].map(right), 'outcome'];
  return renderTable(heads, [row]);
}
