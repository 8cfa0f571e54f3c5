import { type Command, InvalidArgumentError } from 'commander';
import {
  type ChainFault,
  type ChainLink,
  type ChainReport,
  verifyAuditChain,
} from '../../base/audit/audit-chain.sql.ts';
import { type CommandResult, EXIT, type Exit, stagingAction } from '../command-run.ts';

const FAULTS: Readonly<Record<ChainFault, string>> = {
  changed: 'was changed after it was written',
  deleted: 'was deleted',
  unlinked: 'was put in past the chain, or its link was removed',
  broken_link: 'does not follow the link before it: a link was removed, put in or moved',
  anchor_missing: 'does not exist: the newest entries were deleted together with their links',
  anchor_changed: 'differs from the kept one: the chain was rewritten',
};

export function addAuditCommand(program: Command, exit: Exit): void {
  const audit = program.command('audit').description('the audit log');
  audit
    .command('verify')
    .description('check that no entry of the audit log was changed, removed, inserted or moved')
    .option('--anchor <position:hash>', 'a head that an earlier run printed', parseAnchor)
    .addHelpText(
      'after',
      `
Each entry's hash covers the entry and the hash before it. With exit status 1 the command
names the first entry that was changed. Keep the printed head outside of this database and pass it to the
next run as --anchor: a user who can delete the newest entries can delete their links too, and only the
anchor reveals that.

Example: conciliation audit verify --anchor 412:5f1c…`,
    )
    .action(
      stagingAction(exit, async (database, _, { anchor }: { anchor?: ChainLink }) =>
        toResult(await verifyAuditChain(database, anchor ?? null)),
      ),
    );
}

function parseAnchor(text: string): ChainLink {
  const [, position = '', hash = ''] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === '') {
    throw new InvalidArgumentError('expected <position>:<hash> as an earlier run printed it');
  }
  return { position: Number(position), hash };
}

function toResult(report: ChainReport): CommandResult {
  const { fault, head, links } = report;
  if (fault !== null) {
    const subject =
      fault.entryId === null ? `the link ${fault.position}` : `entry ${fault.entryId}`;
    return {
      document: report,
      text: `Broken after ${links} link(s): ${subject} ${FAULTS[fault.kind]}.`,
      exit: EXIT.failed,
    };
  }
  return {
    document: report,
    text:
      head === null
        ? 'The audit log is empty.'
        : `${links} entries, none changed.\nHead, to be kept elsewhere: ${head.position}:${head.hash}`,
  };
}
