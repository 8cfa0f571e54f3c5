import { InputError } from '../base/runtime/errors.ts';
import {
  importPayableFile,
  MAX_REPORTED_REJECTS,
  type PayableFileReport,
} from '../features/matching/payables/import-payables.ts';
import { argument, EXIT, flag, integerFrom, optional, stagingCommand } from './command.ts';
import { formatCount } from './output/table.ts';

const importFile = stagingCommand({
  name: 'erp-payables import',
  does: 'write the payables of a file into the staging table',
  words: {
    file: argument('a .json or .csv file'),
    snapshot: flag('the file has all open payables; those that it lacks are closed'),
    delta: flag('the file has payables that changed; no other is touched'),
    count: optional(
      '<number>',
      'the number of payables that the ERP wrote; with another number a snapshot closes nothing',
      integerFrom(0, 2_147_483_647),
    ),
    dryRun: flag('report what would change, and change nothing'),
  },
  help: `JSON: {"payables": [...]} or only the list. CSV in UTF-8 with "," or ";" and a header of these columns, in any
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
  async run(
    database,
    { file, snapshot, delta, count: announced = null, dryRun: isDryRun },
    { by: actor, signal },
  ) {
    if (snapshot === delta) throw new InputError('expected one of --snapshot and --delta');
    const kind = snapshot ? 'snapshot' : 'delta';
    const request = { kind, actor, announced, isDryRun, signal } as const;
    const report = await importPayableFile(database, file, request);
    return {
      document: { dryRun: isDryRun, ...report, importId: isDryRun ? null : report.importId },
      text: importText(report, isDryRun),
      exit: report.isComplete ? EXIT.done : EXIT.needsPerson,
    };
  },
});

export const COMMANDS = [importFile];

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
