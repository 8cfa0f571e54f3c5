import {
  type FileReport,
  importProviderFile,
  MAX_REPORTED_FAULTS,
} from '../features/providers/import-providers.sql.ts';
import { argument, EXIT, flag, stagingCommand } from './command.ts';
import { formatCount } from './output/table.ts';

const importFile = stagingCommand({
  name: 'providers import',
  does: 'write the suppliers of a file into the staging table',
  words: {
    file: argument('a .json or .csv file'),
    dryRun: flag('report what would change, and change nothing'),
  },
  help: `JSON in the interface's shape, {"providers": [...]} or only the list. CSV in UTF-8 with "," or ";" and a
header of these columns, in any order; only the first three are required:

  externalId, identificationNumber, name, type, canAnticipate, phones, emailAddresses,
  account1.bankNumber, account1.agencyNumber, account1.accountNumber, account1.accountDigit,
  account1.type, account1.defaultAccount, and the same for account2 to account9

Several phones or addresses share one cell, with "|" between them. A provider is replaced as a whole: a
field that the file does not have is empty afterwards. Providers with a fault are reported by line and field
and left out; all others are imported together. Providers that did not change are not pushed again.

Exit status: 0 all imported, 1 failed, 2 wrong usage or file, 3 imported but some were left out.

Example: conciliation providers import suppliers.csv --dry-run`,
  async run(database, { file, dryRun: isDryRun }, { by: actor, logger, signal }) {
    const report = await importProviderFile(database, file, { isDryRun, actor, signal });
    logger.info({ ...countsOf(report), isDryRun }, 'providers imported');
    return {
      document: { dryRun: isDryRun, ...report },
      text: importText(report, isDryRun),
      exit: report.refused > 0 ? EXIT.needsPerson : EXIT.done,
    };
  },
});

export const COMMANDS = [importFile];

function countsOf({ read, inserted, changed, unchanged, refused }: FileReport) {
  return { read, inserted, changed, unchanged, refused };
}

function importText(report: FileReport, isDryRun: boolean): string {
  const place = report.format === 'csv' ? 'line' : 'item';
  const lines = [
    `${isDryRun ? 'Nothing was changed. Of' : 'Of'} ${formatCount(report.read)} provider(s) ` +
      `${isDryRun ? 'would be' : 'were'}: ${formatCount(report.inserted)} inserted, ` +
      `${formatCount(report.changed)} changed, ${formatCount(report.unchanged)} left as they are, ` +
      `${formatCount(report.refused)} left out.`,
  ];
  if (report.raised > 0) {
    lines.push(
      `In ${formatCount(report.raised)} identificationNumber(s) lower case letters were raised.`,
    );
  }
  for (const { at, field, expected } of report.faults) {
    lines.push(`${place} ${at}: ${field}: ${expected}`);
  }
  if (report.faults.length === MAX_REPORTED_FAULTS) {
    lines.push(`Only the first ${formatCount(MAX_REPORTED_FAULTS)} faults are listed.`);
  }
  return lines.join('\n');
}
