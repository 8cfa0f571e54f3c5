import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import type { Database } from '../../base/database/database.ts';
import { requireSchemaOwner } from '../../base/database/schema-owner.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { parseTaxId } from '../../base/values/tax-id.ts';
import {
  type ErasureCounts,
  type ErasureReport,
  eraseParty,
  liftErasure,
} from '../../features/privacy/erase-party.sql.ts';
import type { NamedParty } from '../../features/privacy/party-names.sql.ts';
import { idArgument } from '../arguments.ts';
import { type CommandResult, commandAction, type Exit, withStaging } from '../command-run.ts';
import { formatCount, renderTable, right } from '../output/table.ts';

const STANDARD_INPUT = '-';

const COUNT_TEXTS: Readonly<Record<keyof ErasureCounts, string>> = {
  bookingLines: 'booking lines, of which the amounts stay',
  bookingReceipts: 'receipts of the ERP, of which the state stays',
  titles: 'titles, of which the amounts stay',
  revisions: 'revisions of titles',
  partyAccounts: 'known bank accounts, deleted',
  accountChanges: 'changes of a bank account',
  rejects: 'texts of rejected titles',
  drift: 'values outside the documented interface',
  providers: 'suppliers in provider, deleted',
  providerBatches: 'requests that pushed suppliers',
  payables: 'payables of the ERP, of which the amounts stay',
  payableRejects: 'texts of rejected payables',
};

interface EraseOptions {
  readonly taxIdFile?: string;
  readonly externalId?: string;
  readonly lift?: bigint;
  readonly reason: string;
  readonly dryRun?: boolean;
  readonly undecided?: 'erase' | 'keep';
}

export function addErasePartyCommand(program: Command, exit: Exit): void {
  program
    .command('erase-party')
    .description('permanently erase the personal data of a supplier or financial agent')
    .option('--tax-id-file <file>', 'a file with its CPF or CNPJ; - is standard input')
    .option('--external-id <id>', "the supplier's number in the ERP")
    .option('--lift <id>', 'end an erasure, by the number of the erased party', idArgument('party'))
    .requiredOption('--reason <text>', 'why, for the audit log; no personal data')
    .option('--dry-run', 'count only')
    .addOption(
      new Option(
        '--undecided <what>',
        'what to do with titles whose number may be this tax identifier or, by its leading zeros, another one',
      ).choices(['erase', 'keep']),
    )
    .addHelpText(
      'after',
      `
Erase only data that the law permits you to erase: docs/privacy.md. An erasure cannot be undone.

Replaces tax identifier, name, bank account and undocumented fields of the party in titles and their
history, in the watch on bank accounts, in bookings and the ERP's receipts, in the ERP's payables, in rejected
titles and payables and in recorded pushes, and deletes the supplier from provider. Amounts, dates and hashes stay,
so totals and seals verify. Later answers of the platform about the party are written without its personal data,
until --lift.

A tax identifier is read from a file, because other users of the machine can see command lines.

Needs the DATABASE_URL of the schema's owner, as "migrate --roles" does. The service may keep running.

Exit status: 0 erased, 1 failed, 2 wrong usage or no row names the party.

Example: conciliation erase-party --tax-id-file cpf.txt --reason "request 2031-17, retention ended"`,
    )
    .action(
      commandAction(exit, { platform: false }, async (run, options: EraseOptions) => {
        const party = options.lift === undefined ? await readParty(options) : null;
        if (options.reason.trim() === '') throw new InputError('--reason: expected a text');
        return withStaging(run, async ({ database }) => {
          await requireSchemaOwner(database, 'conciliation erase-party');
          return party === null
            ? lift(database, run.by, options)
            : erase(database, party, run.by, options);
        });
      }),
    );
}

async function readParty({ taxIdFile, externalId }: EraseOptions): Promise<NamedParty> {
  if ((taxIdFile === undefined) === (externalId === undefined)) {
    throw new InputError('expected one of --tax-id-file, --external-id and --lift');
  }
  if (externalId !== undefined) {
    if (externalId.trim() === '') throw new InputError('--external-id: expected a text');
    return { taxId: null, externalId: externalId.trim() };
  }
  const content = await readSource(taxIdFile ?? '');
  // The message quotes nothing of the file.
  const taxId = parseTaxId(content.trim());
  if (taxId === null)
    throw new InputError('--tax-id-file: expected one CPF or CNPJ in it, with its leading zeros');
  return { taxId: taxId.digits, externalId: null };
}

async function readSource(file: string): Promise<string> {
  if (file === STANDARD_INPUT) return readText(process.stdin);
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new InputError(`--tax-id-file: the file cannot be read (${error.code ?? 'unknown'})`);
  });
}

async function lift(
  database: Database,
  by: string,
  { lift: id, reason }: EraseOptions,
): Promise<CommandResult> {
  if (id === undefined) throw new InputError('--lift: expected the number of an erased party');
  await liftErasure(database, id, { by, reason });
  return {
    document: { partyId: Number(id), lifted: true },
    text: `The erasure of party ${id} is lifted: later answers are written as they come.`,
  };
}

async function erase(
  database: Database,
  party: NamedParty,
  by: string,
  { reason, dryRun: isDryRun = false, undecided }: EraseOptions,
): Promise<CommandResult> {
  const report = await eraseParty(database, { party, by, reason, isDryRun, undecided });
  return {
    document: { dryRun: isDryRun, ...report },
    text: [
      isDryRun ? 'Nothing was changed. Would be erased:' : headline(report),
      '',
      renderTable(
        ['what', right('rows')],
        Object.entries(COUNT_TEXTS).map(([name, text]) => [
          text,
          formatCount(report.counts[name as keyof ErasureCounts]),
        ]),
      ),
      ...(isDryRun ? [] : ['', WHAT_REMAINS]),
    ].join('\n'),
  };
}

function headline({ partyId, pseudonym }: ErasureReport): string {
  return `The party is erased as number ${partyId}; its titles name it ${pseudonym}.`;
}

const WHAT_REMAINS = `Old row versions, backups, exports, the ERP and the platform still have the data: see docs/privacy.md.`;
