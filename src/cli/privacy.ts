import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import { Option } from '@commander-js/extra-typings';
import { InputError } from '../base/runtime/errors.ts';
import { addDays } from '../base/values/business-day.ts';
import { parseTaxId } from '../base/values/tax-id.ts';
import { eraseParty, liftErasure } from '../features/privacy/erase-party.sql.ts';
import type { NamedParty } from '../features/privacy/erased-parties.sql.ts';
import {
  countRemovable,
  RETENTION_KINDS,
  type RetentionKind,
  removeOld,
  requireSchemaOwner,
} from '../features/privacy/retention.sql.ts';
import {
  command,
  formatCount,
  idOf,
  integerFrom,
  renderTable,
  stagingCommand,
  toWords,
  withStaging,
} from './command.ts';

/** Younger rows are kept for the service and for people. */
const MIN_DAYS = 30;
const MAX_DAYS = 36_500;

const KIND_TEXTS: Readonly<Record<RetentionKind, string>> = {
  provider_answers: "texts of the platform's answers to pushed providers",
  reject_texts: 'texts of rejected titles that are resolved',
  payable_rejects: 'rejected payables of the ERP',
  pulls: 'pulls that changed nothing, of dates with a newer merged pull',
};

const retention = stagingCommand({
  name: 'retention',
  does: 'remove old rows and texts that are no longer needed',
  words: (line) =>
    line
      .requiredOption(
        '--older-than <days>',
        `rows that ended this many days ago; at least ${MIN_DAYS}`,
        integerFrom(MIN_DAYS, MAX_DAYS),
      )
      .option('--dry-run', 'count only'),
  help: `Removes:

${RETENTION_KINDS.map((kind) => `  ${kind.padEnd(18)}${KIND_TEXTS[kind]}`).join('\n')}

Titles, revisions, days, seals, audit entries and every pull that changed a title stay. The service may
run meanwhile. The next run completes an interrupted run.

Needs the DATABASE_URL of the schema's owner, as "migrate --roles" does: the service's user may not delete.

Exit status: 0 done, 1 failed or interrupted, 2 wrong usage.

Example: conciliation retention --older-than 730 --dry-run`,
  async run(database, { olderThan, dryRun = false }, { config, by, signal, today }) {
    const before = addDays(today, -olderThan);
    await requireSchemaOwner(database, 'conciliation retention');
    const request = { before, timeZone: config.timezone, by, signal };
    const removed = await (dryRun ? countRemovable : removeOld)(database, request);
    const table = renderTable(
      [dryRun ? 'would be removed' : 'removed', 'rows'],
      RETENTION_KINDS.map((kind) => [KIND_TEXTS[kind], formatCount(removed[kind])]),
    );
    return {
      document: { before, dryRun, removed },
      text: `Rows that ended before ${before}:\n\n${table}`,
    };
  },
});

const WHAT_REMAINS = `Old row versions, backups, exports, the ERP and the platform still have the data: see docs/privacy.md.`;

/** The name of a count in words. */
const wordsOf = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const erase = command({
  name: 'erase-party',
  does: 'permanently erase the personal data of a supplier or financial agent',
  words: (line) =>
    line
      .option('--tax-id-file <file>', 'a file with its CPF or CNPJ; - is standard input')
      .option('--external-id <id>', "the supplier's number in the ERP")
      .option('--lift <id>', 'end an erasure, by the number of the erased party', idOf('party'))
      .requiredOption('--reason <text>', 'why, for the audit log; no personal data', toWords)
      .option('--dry-run', 'count only')
      .addOption(
        new Option(
          '--undecided <what>',
          'what to do with titles whose number may be this tax identifier or, by its leading zeros, another one',
        ).choices(['erase', 'keep']),
      ),
  help: `Erase only data that the law permits you to erase: docs/privacy.md. An erasure cannot be undone.

Replaces tax identifier, name, bank account and undocumented fields of the party in titles and their
history, in the watch on bank accounts, in bookings and the ERP's receipts, in the ERP's payables, in rejected
titles and payables and in recorded pushes, and deletes the supplier from provider. Amounts, dates and hashes stay,
so totals and seals verify. Later answers of the platform about the party are written without its personal data,
until --lift.

A tax identifier is read from a file, because other users of the machine can see command lines.

Needs the DATABASE_URL of the schema's owner, as "migrate --roles" does. The service may keep running.

Exit status: 0 erased, 1 failed, 2 wrong usage or no row names the party.

Example: conciliation erase-party --tax-id-file cpf.txt --reason "request 2031-17, retention ended"`,
  needs: { platform: false },
  async run(run, { lift, reason, dryRun: isDryRun = false, undecided, ...named }) {
    const subject = lift ?? (await readParty(named));
    return withStaging(run, async ({ database }) => {
      const { by } = run;
      await requireSchemaOwner(database, 'conciliation erase-party');
      if (typeof subject === 'bigint') {
        await liftErasure(database, subject, { by, reason });
        return {
          document: { partyId: Number(subject), lifted: true },
          text: `The erasure of party ${subject} is lifted: later answers are written as they come.`,
        };
      }
      const report = await eraseParty(database, {
        ...{ party: subject, by, reason, isDryRun, undecided },
      });
      const { partyId, pseudonym, counts } = report;
      return {
        document: { dryRun: isDryRun, ...report },
        text: [
          isDryRun
            ? 'Nothing was changed. Would be erased:'
            : `The party is erased as number ${partyId}; its titles name it ${pseudonym}.`,
          '',
          renderTable(
            ['what', 'rows'],
            Object.entries(counts).map(([name, rows]) => [wordsOf(name), formatCount(rows)]),
          ),
          ...(isDryRun ? [] : ['', WHAT_REMAINS]),
        ].join('\n'),
      };
    });
  },
});

export const COMMANDS = [retention, erase];

async function readParty(
  named: Readonly<Partial<Record<'taxIdFile' | 'externalId', string>>>,
): Promise<NamedParty> {
  const { taxIdFile, externalId } = named;
  if ((taxIdFile === undefined) === (externalId === undefined)) {
    throw new InputError('expected one of --tax-id-file, --external-id and --lift');
  }
  if (externalId !== undefined) {
    if (externalId.trim() === '') throw new InputError('--external-id: expected a text');
    return { taxId: null, externalId: externalId.trim() };
  }
  const content =
    taxIdFile === '-'
      ? await readText(process.stdin)
      : await readFile(taxIdFile ?? '', 'utf8').catch((error: NodeJS.ErrnoException) => {
          throw new InputError(`--tax-id-file: the file cannot be read (${error.code})`);
        });
  // The message quotes nothing of the file.
  const taxId = parseTaxId(content.trim());
  if (taxId === null)
    throw new InputError('--tax-id-file: expected one CPF or CNPJ in it, with its leading zeros');
  return { taxId: taxId.digits, externalId: null };
}
