import { type Command, Option } from 'commander';
import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import {
  importPayableFile,
  MAX_REPORTED_REJECTS,
  type PayableFileReport,
} from '../../features/matching/payables/import-payables.ts';
import { integerArgument } from '../arguments.ts';
import {
  type CommandResult,
  type CommandRun,
  EXIT,
  type Exit,
  stagingAction,
} from '../command-run.ts';
import { formatCount } from '../output/table.ts';

interface ImportFlags {
  readonly snapshot?: boolean;
  readonly delta?: boolean;
  readonly count?: number;
  readonly dryRun?: boolean;
}

export function addErpPayablesCommand(program: Command, exit: Exit): void {
  const payables = program
    .command('erp-payables')
    .description("the ERP's payables, with which titles are matched");
  payables
    .command('import')
    .description('write the payables of a file into the staging table')
    .argument('<file>', 'a .json or .csv file')
    .option('--snapshot', 'the file has all open payables; those that it lacks are closed')
    .addOption(
      new Option('--delta', 'the file has payables that changed; no other is touched').conflicts(
        'snapshot',
      ),
    )
    .option(
      '--count <number>',
      'the number of payables that the ERP wrote; with another number a snapshot closes nothing',
      integerArgument(0, 2_147_483_647),
    )
    .option('--dry-run', 'report what would change, and change nothing')
    .addHelpText(
      'after',
      `
JSON: {"payables": [...]} or only the list. CSV in UTF-8 with "," or ";" and a header of these columns, in any
order; erpKey, openValue and one of the two columns of the supplier are required:

  erpKey, company, supplierExternalId, supplierTaxId, document, instalment, orderUid, dueDate, openValue,
  status, payee, version, settledAs, settledBy, settledOn, paidTo, totalValue, currency, bookingKey,
  issueDate

A payable is replaced as a whole. In a delta, an older version replaces no newer one: the payable is outdated
and stays as it is. Payables with a fault are reported by line and field, kept in
erp_payable_reject and left out; all others are imported together. A snapshot with such a payable is not
complete and closes nothing. docs/integration.md describes the columns.

Exit status: 0 all imported, 1 failed, 2 wrong usage or file, 3 imported but not complete.

Example: conciliation erp-payables import payables.csv --snapshot --count 1250`,
    )
    .action(stagingAction(exit, importFile));
}

async function importFile(
  database: Database,
  { by, signal }: CommandRun,
  file: string,
  flags: ImportFlags,
): Promise<CommandResult> {
  if (flags.snapshot !== true && flags.delta !== true) {
    throw new InputError('expected --snapshot or --delta');
  }
  const isDryRun = flags.dryRun === true;
  const report = await importPayableFile(database, file, {
    kind: flags.snapshot === true ? 'snapshot' : 'delta',
    actor: by,
    announced: flags.count ?? null,
    isDryRun,
    signal,
  });
  return {
    document: { dryRun: isDryRun, ...report, importId: isDryRun ? null : report.importId },
    text: importText(report, isDryRun),
    exit: report.isComplete ? EXIT.done : EXIT.needsPerson,
  };
}

function importText(report: PayableFileReport, isDryRun: boolean): string {
  const place = report.format === 'csv' ? 'line' : 'item';
  const lines = [
    `${isDryRun ? 'Nothing was changed. Payables would be' : 'Payables were'}: ` +
      `${formatCount(report.inserted)} inserted, ${formatCount(report.changed)} changed, ` +
      `${formatCount(report.unchanged)} left as they are, ${formatCount(report.outdated)} outdated, ` +
      `${formatCount(report.rejected)} rejected, ${formatCount(report.closed)} closed.`,
  ];
  if (report.kind === 'snapshot' && !report.isComplete) {
    lines.push('The snapshot is not complete. No payable is closed because of it.');
  }
  if (report.downgraded > 0) {
    lines.push(
      `${formatCount(report.downgraded)} of the changed payables went back to an older version: ` +
        `${report.downgradedKeys.join(', ')}${report.downgraded > report.downgradedKeys.length ? ', …' : ''}.`,
    );
  }
  if (report.incomparable > 0) {
    lines.push(
      `${formatCount(report.incomparable)} of the changed payables have a version that cannot be compared with the one before.`,
    );
  }
  for (const { at, field, expected } of report.rejects) {
    lines.push(`${place} ${at}: ${field}: ${expected}`);
  }
  if (report.rejects.length === MAX_REPORTED_REJECTS) {
    lines.push(`Only the first ${formatCount(MAX_REPORTED_REJECTS)} faults are listed.`);
  }
  return lines.join('\n');
}
