/** The commands for the data of the ERP: payables and suppliers. */
import { type Command, Option } from '@commander-js/extra-typings';
import {
  ENCODINGS,
  type FileReading,
  formatOf,
  MAX_REPORTED_FAULTS,
} from '../base/files/import-file.ts';
import { InputError } from '../base/runtime/errors.ts';
import { importPayableFile } from '../features/matching/payables/payable-import.sql.ts';
import { importProviderFile } from '../features/providers/import-providers.sql.ts';
import { EXIT, formatCount, integerFrom, linesOf, stagingCommand } from './command.ts';

const fileWords = (line: Command) =>
  line
    .argument('<file>', 'a .json or .csv file')
    .addOption(
      new Option(
        '--encoding <name>',
        'windows-1252 also takes a file that is not UTF-8, such as one in ISO-8859-1',
      )
        .choices(ENCODINGS)
        .default(ENCODINGS[0]),
    )
    .option('--dry-run', 'report what would change, and change nothing');

const importPayables = stagingCommand({
  name: 'erp-payables import',
  does: 'write the payables of a file into the staging table',
  words: (line) =>
    fileWords(line)
      .option('--snapshot', 'the file has all open payables; those that it lacks are closed')
      .option('--delta', 'the file has payables that changed; no other is touched')
      .option(
        '--count <number>',
        'the number of payables that the ERP wrote; with another number a snapshot closes nothing',
        integerFrom(0, 2_147_483_647),
      ),
  help: `JSON: {"payables": [...]} or only the list. CSV with ";", "," or tabs and a header of these columns, in any order;
erpKey, openValue and one of the two columns of the supplier are required:

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
    { encoding, snapshot, delta, count: announced = null, dryRun: isDryRun = false },
    { by: actor, progress, signal },
    [file],
  ) {
    if (snapshot === delta || (delta && announced !== null)) {
      throw new InputError('expected --snapshot, also with --count, or --delta');
    }
    const kind = snapshot ? 'snapshot' : 'delta';
    const onProgress = (read: number) => progress.update(`${formatCount(read)} payables read`);
    const request = { kind, actor, announced, isDryRun, signal, onProgress } as const;
    const reading: FileReading = { path: file, encoding, totalsLine: null };
    const report = await importPayableFile(database, reading, request);
    const { inserted, changed, unchanged, outdated, rejected, closed } = report;
    const { downgraded, downgradedKeys, incomparable, isComplete } = report;
    const more = downgraded > downgradedKeys.length ? ', …' : '';
    const why =
      rejected > 0
        ? 'payables were rejected'
        : announced === null
          ? 'the file has no payable; if the ERP has no open one, add --count 0'
          : `${formatCount(report.arrived)} of ${formatCount(announced)} payables arrived`;
    return {
      document: {
        ...{ dryRun: isDryRun, ...report, importId: isDryRun ? null : report.importId },
        totalsLine: reading.totalsLine,
      },
      text: linesOf(
        `${isDryRun ? 'Nothing was changed. Payables would be' : 'Payables were'}: ` +
          `${countsText({ inserted, changed, 'left as they are': unchanged, outdated, rejected, closed })}.`,
        kind === 'snapshot' &&
          !isComplete &&
          `The snapshot is not complete: ${why}. No payable is closed because of it.`,
        downgraded > 0 &&
          `${formatCount(downgraded)} of the changed payables went back to an older version: ${downgradedKeys.join(', ')}${more}.`,
        incomparable > 0 &&
          `${formatCount(incomparable)} of the changed payables have a version that cannot be compared with the one before.`,
        ...faultLines(reading, report.rejects),
      ),
      exit: isComplete ? EXIT.done : EXIT.needsPerson,
    };
  },
});

const importProviders = stagingCommand({
  name: 'providers import',
  does: 'write the suppliers of a file into the staging table',
  words: fileWords,
  help: `JSON in the interface's shape, {"providers": [...]} or only the list. CSV with ";", "," or tabs and a
header of these columns, in any order; only the first three are required:

  externalId, identificationNumber, name, type, canAnticipate, phones, emailAddresses,
  account1.bankNumber, account1.agencyNumber, account1.accountNumber, account1.accountDigit,
  account1.type, account1.defaultAccount, and the same for account2 to account9

Several phones or addresses share one cell, with "|" between them. A provider is replaced as a whole: a
field that the file does not have is empty afterwards. Providers with a fault are reported by line and field
and left out; all others are imported together. Providers that did not change are not pushed again.

Exit status: 0 all imported, 1 failed, 2 wrong usage or file, 3 imported but some were left out.

Example: conciliation providers import suppliers.csv --dry-run`,
  async run(
    database,
    { encoding, dryRun: isDryRun = false },
    { by: actor, logger, progress, signal },
    [file],
  ) {
    const onProgress = (read: number) => progress.update(`${formatCount(read)} suppliers read`);
    const reading: FileReading = { path: file, encoding, totalsLine: null };
    const report = await importProviderFile(database, reading, {
      ...{ isDryRun, actor, signal, onProgress },
    });
    const { faults, ...counts } = report;
    logger.info({ ...counts, isDryRun }, 'providers imported');
    const { read, inserted, changed, unchanged, refused } = counts;
    const summary =
      `${isDryRun ? 'Nothing was changed. Of' : 'Of'} ${formatCount(read)} provider(s) ${isDryRun ? 'would be' : 'were'}: ` +
      `${countsText({ inserted, changed, 'left as they are': unchanged, 'left out': refused })}.`;
    return {
      document: { dryRun: isDryRun, ...report, totalsLine: reading.totalsLine },
      text: linesOf(summary, ...faultLines(reading, faults)),
      exit: refused > 0 ? EXIT.needsPerson : EXIT.done,
    };
  },
});

export const COMMANDS = [importPayables, importProviders];

const countsText = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([what, count]) => `${formatCount(count)} ${what}`)
    .join(', ');

function faultLines(
  { path, totalsLine = null }: FileReading,
  faults: readonly { readonly at: number; readonly field: string; readonly expected: string }[],
) {
  const place = formatOf(path) === 'csv' ? 'line' : 'item';
  return [
    totalsLine !== null && `line ${totalsLine} has totals and was left out.`,
    ...faults.map(({ at, field, expected }) => `${place} ${at}: ${field}: ${expected}`),
    faults.length === MAX_REPORTED_FAULTS &&
      `Only the first ${formatCount(MAX_REPORTED_FAULTS)} faults are listed.`,
  ];
}
