import { type Command, InvalidArgumentError } from 'commander';
import { type CivilMonth, parseMonth } from '../../closing/civil-month.ts';
import { readEvidence } from '../../closing/evidence.sql.ts';
import { writeEvidenceFile } from '../../closing/evidence-file.ts';
import { type Month, readMonths, sealMonth, stateOf } from '../../closing/month-seal.sql.ts';
import type { Database } from '../../database/database.ts';
import { dateIn } from '../../domain/business-day.ts';
import { reasonArgument } from '../arguments.ts';
import {
  type CommandResult,
  type CommandRun,
  commandAction,
  EXIT,
  type Exit,
} from '../command-run.ts';
import { operatorName } from '../operator-name.ts';
import { checkOutFile, writeOutFile } from '../output/out-file.ts';
import { formatAmount, formatCount, renderTable, right } from '../output/table.ts';
import { stagingAction, withStaging } from '../staging-run.ts';

/** Adds the commands that list and seal months. */
export function addMonthCommand(program: Command, exit: Exit): void {
  const month = program.command('month').description('the closing of months');
  month
    .command('list')
    .description('list the months with their seals')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A month is "ready" when all its days are signed off. A seal is "broken" when a day of the month was restated,
reopened or signed off again since.

Exit status: 0 no seal is broken, 1 failed, 3 a seal is broken.

Example: conciliation month list`,
    )
    .action(stagingAction(exit, listMonths));
  month
    .command('seal')
    .description('seal a month whose days are all signed off')
    .argument('<month>', 'the month, YYYY-MM', monthArgument)
    .option('--reason <text>', 'a note; kept with the seal and in the audit log', reasonArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The seal covers the seals of all days from the start date of the ledger or the first of the month to its last
day, and their totals. A new seal succeeds the one before, which is kept.

Exit status: 0 sealed, 1 failed, 2 wrong usage or the month cannot be sealed.

Example: conciliation month seal 2026-03`,
    )
    .action(stagingAction(exit, seal));
  month
    .command('evidence')
    .description('write the evidence of a sealed month to a ZIP file')
    .argument('<month>', 'the month, YYYY-MM', monthArgument)
    .requiredOption('--out <file>', 'the file')
    .option('--force', 'replace the file if it exists')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The file has the seal of the month, the seals of its days, the titles of each day as they stood when signed
(JSON lines and CSV), the head of the audit log, and verify.mjs. Unpack it into an empty folder and run
"node verify.mjs" there: the verifier recomputes every digest and sum, without a network and without this program.

The file holds tax identifiers, names and bank accounts. Every evidence file is kept in the audit log.

Exit status: 0 written, 1 failed or interrupted, 2 wrong usage, the month is not sealed or the file cannot be
written, 3 written, and the seal no longer holds.

Example: conciliation month evidence 2026-03 --out march.zip`,
    )
    .action(commandAction(exit, { platform: false }, writeEvidence));
}

/** Commander argument parser: a month. */
function monthArgument(text: string): CivilMonth {
  const month = parseMonth(text);
  if (month === null) throw new InvalidArgumentError('Expected a month as YYYY-MM.');
  return month;
}

async function listMonths(database: Database, { config }: CommandRun): Promise<CommandResult> {
  const today = dateIn(config.timeZone, new Date());
  const months = (await readMonths(database, today)).map((month) => ({
    ...month,
    state: stateOf(month),
  }));
  const broken = months.filter((month) => month.broken.length > 0);
  const table = renderTable(
    ['month', 'state', right('signed'), right('titles'), right('original value'), 'sealed by'],
    months.map(({ month, state, signed, days, seal }) => [
      month,
      state,
      `${signed} of ${days}`,
      seal === null ? '' : formatCount(Number(seal.totals.title_count)),
      seal === null ? '' : formatAmount(seal.totals.original_value_sum),
      seal?.sealedBy ?? '',
    ]),
  );
  return {
    document: { months },
    text:
      months.length === 0
        ? 'The ledger is empty.'
        : [table, ...(broken.length === 0 ? [] : ['', ...broken.map(brokenText)])].join('\n'),
    exit: broken.length === 0 ? EXIT.done : EXIT.needsPerson,
  };
}

function brokenText({ month, broken }: Pick<Month, 'month' | 'broken'>): string {
  const causes = broken.map(({ date, cause }) => `${date} (${cause.replace('_', ' ')})`);
  return `The seal of ${month} no longer holds: ${causes.join(', ')}.`;
}

async function seal(
  database: Database,
  _: CommandRun,
  month: CivilMonth,
  { reason = null }: { reason?: string | null },
): Promise<CommandResult> {
  const sealed = await sealMonth(database, month, {
    by: operatorName(),
    reason,
    seenDigest: null,
  });
  const { totals } = sealed;
  return {
    document: sealed,
    text: [
      `${month} is sealed by ${sealed.sealedBy}: ${sealed.days} day(s), ${formatCount(Number(totals.title_count))} title(s), original value ${formatAmount(totals.original_value_sum)}.`,
      `Digest: ${sealed.digest}`,
    ].join('\n'),
  };
}

async function writeEvidence(
  run: CommandRun,
  month: CivilMonth,
  options: { out: string; force?: boolean },
): Promise<CommandResult> {
  const out = { path: options.out, force: options.force === true };
  await checkOutFile(out);
  const actor = operatorName();
  return withStaging(run, (database) =>
    readEvidence(database, { month, actor }, run.signal, async (evidence) => {
      const file = writeEvidenceFile(evidence, { at: new Date(), by: actor });
      const bytes = await writeOutFile(out, file, run.signal);
      const { seal, days, broken } = evidence;
      return {
        document: { file: out.path, bytes, month, digest: seal.digest, days: days.length, broken },
        text: [
          `The evidence of ${month} is in ${out.path} (${formatCount(bytes)} bytes): ${days.length} day(s), ${formatCount(Number(seal.totals.title_count))} title(s).`,
          `Digest: ${seal.digest}`,
          ...(broken.length === 0 ? [] : [brokenText({ month, broken })]),
        ].join('\n'),
        exit: broken.length === 0 ? EXIT.done : EXIT.needsPerson,
      };
    }),
  );
}
