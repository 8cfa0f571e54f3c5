import { type Command, InvalidArgumentError } from 'commander';
import { requireSchemaOwner } from '../../base/database/schema-owner.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { addDays, type CivilDate, parseCivilDate } from '../../base/values/business-day.ts';
import {
  countRemovable,
  RETENTION_KINDS,
  type RetentionCounts,
  type RetentionKind,
  removeOld,
} from '../../features/privacy/retention.sql.ts';
import { type CommandResult, type Exit, stagingAction } from '../command-run.ts';
import { formatCount, renderTable, right } from '../output/table.ts';

/** Younger rows are kept for the service and for people. */
const MIN_DAYS = 30;
const MAX_DAYS = 36_500;

const KIND_TEXTS: Readonly<Record<RetentionKind, string>> = {
  provider_answers: "texts of the platform's answers to pushed providers",
  reject_texts: 'texts of rejected titles that are resolved',
  payable_rejects: 'rejected payables of the ERP',
  console_links: 'console links that have expired',
  console_sessions: 'console sessions that have expired',
  pulls: 'pulls that changed nothing, of dates with a newer merged pull',
};

interface RetentionOptions {
  readonly olderThan: number | CivilDate;
  readonly dryRun?: boolean;
}

export function addRetentionCommand(program: Command, exit: Exit): void {
  program
    .command('retention')
    .description('remove old rows and texts that are no longer needed')
    .requiredOption(
      '--older-than <days|date>',
      `rows that ended this many days ago, or before a date; at least ${MIN_DAYS} days`,
      parseAge,
    )
    .option('--dry-run', 'count only')
    .addHelpText(
      'after',
      `
Removes:

${RETENTION_KINDS.map((kind) => `  ${kind.padEnd(18)}${KIND_TEXTS[kind]}`).join('\n')}

Titles, revisions, days, seals, audit entries and every pull that changed a title stay. The service may
run meanwhile. The next run completes an interrupted run.

Needs the DATABASE_URL of the schema's owner, as "migrate --roles" does: the service's user may not delete.

Exit status: 0 done, 1 failed or interrupted, 2 wrong usage.

Example: conciliation retention --older-than 730 --dry-run`,
    )
    .action(
      stagingAction(exit, async (database, run, options: RetentionOptions) => {
        const { olderThan, dryRun = false } = options;
        const { config, by, signal, today } = run;
        const before = dateBefore(olderThan, today);
        await requireSchemaOwner(database, 'conciliation retention');
        const request = { before, timeZone: config.timezone, by, signal };
        const counts = await (dryRun ? countRemovable : removeOld)(database, request);
        return toResult(before, dryRun, counts);
      }),
    );
}

function parseAge(text: string): number | CivilDate {
  const days = Number(text);
  if (/^\d{1,5}$/.test(text) && days <= MAX_DAYS) return days;
  const date = parseCivilDate(text);
  if (date === null) {
    throw new InvalidArgumentError('Expected a number of days, or a calendar date as YYYY-MM-DD.');
  }
  return date;
}

function dateBefore(olderThan: number | CivilDate, today: CivilDate): CivilDate {
  const latest = addDays(today, -MIN_DAYS);
  const before = typeof olderThan === 'number' ? addDays(today, -olderThan) : olderThan;
  if (before > latest) {
    throw new InputError(`--older-than: at least ${MIN_DAYS} days, so at the latest ${latest}`);
  }
  return before;
}

function toResult(before: CivilDate, isDryRun: boolean, counts: RetentionCounts): CommandResult {
  const table = renderTable(
    [isDryRun ? 'would be removed' : 'removed', right('rows')],
    RETENTION_KINDS.map((kind) => [KIND_TEXTS[kind], formatCount(counts[kind])]),
  );
  return {
    document: { before, dryRun: isDryRun, removed: counts },
    text: `Rows that ended before ${before}:\n\n${table}`,
  };
}
