import { InvalidArgumentError } from '@commander-js/extra-typings';
import {
  type ChainFault,
  type ChainLink,
  verifyAuditChain,
} from '../base/audit/audit-chain.sql.ts';
import type { Database } from '../base/database/database.ts';
import { InputError } from '../base/runtime/errors.ts';
import { readDates, verifyDate } from '../features/verify/verify.sql.ts';
import {
  type CommandResult,
  EXIT,
  formatCount,
  renderTable,
  stagingCommand,
  toDate,
} from './command.ts';

const verify = stagingCommand({
  name: 'verify',
  does: 'compute again what follows from something else',
  words: (line) =>
    line
      .option('--from <date>', 'the first accepted date, YYYY-MM-DD', toDate)
      .option('--to <date>', 'the last accepted date, YYYY-MM-DD', toDate)
      .option(
        '--audit',
        'check instead that no entry of the audit log was changed, removed, inserted or moved',
      )
      .option(
        '--anchor <position:hash>',
        'of the audit log: a head that an earlier run printed',
        toAnchor,
      ),
  help: `Compares the titles of each date with what the newest merge has left, and with the titles the day, the payment
schedule and the payment holds; the booking lines with the seals that released them; the decisions with the
audit log. The service does the same for every date once a day. A difference raises the alert titles_altered.
Where a pull can correct it, the service makes one. The alert lasts for a day at least. The column problem of
title_finding in the data dictionary explains each difference.

Each entry of the audit log has a hash that covers the entry and the hash before it. With --audit, exit status 1
names the first entry that was changed. Keep the printed head outside of this database and pass it to the
next run as --anchor: a user who can delete the newest entries can delete their links too, and only the
anchor reveals that.

Exit status: 0 no difference, 1 failed, or the audit log was changed, 2 wrong usage, 3 a difference was found.

Example: conciliation verify --from 2026-03-01 --to 2026-03-31`,
  async run(database, { from, to, audit, anchor }, { progress, signal }) {
    if (audit) return verifyAudit(database, anchor ?? null);
    if (anchor !== undefined) throw new InputError('--anchor: requires --audit');
    if (from !== undefined && to !== undefined && to < from) {
      throw new InputError('--to is before --from');
    }
    const dates = (await readDates(database)).filter(
      (date) => (from === undefined || date >= from) && (to === undefined || date <= to),
    );
    const differences = [];
    let titles = 0;
    for (const [index, date] of dates.entries()) {
      progress.update(`${date}: ${index} of ${dates.length} dates, ${formatCount(titles)} titles`);
      const verified = await verifyDate(database, date, signal);
      titles += verified.titles;
      const repairPullId = verified.repairPullId === null ? null : Number(verified.repairPullId);
      for (const { problem, rowKey: row } of verified.alterations) {
        differences.push({ date, problem, row, repairPullId });
      }
    }
    const checked = `${formatCount(titles)} titles of ${formatCount(dates.length)} dates`;
    const document = { dates: dates.length, titles, differences };
    if (differences.length === 0) return { document, text: `${checked}: no difference.` };
    const table = renderTable(
      ['date', 'difference', 'row', 'repaired by pull'],
      differences.map(({ date, problem, row, repairPullId }) => [
        ...[date, problem, row ?? '-', String(repairPullId ?? '-')],
      ]),
    );
    return {
      document,
      text: `${table}\n\n${checked}: ${formatCount(differences.length)} differences.`,
      exit: EXIT.needsPerson,
    };
  },
});

const FAULTS: Readonly<Record<ChainFault, string>> = {
  changed: 'was changed after it was written',
  deleted: 'was deleted',
  unlinked: 'was put in past the chain, or its link was removed',
  broken_link: 'does not follow the link before it: a link was removed, put in or moved',
  anchor_missing: 'does not exist: the newest entries were deleted together with their links',
  anchor_changed: 'differs from the kept one: the chain was rewritten',
};

async function verifyAudit(database: Database, anchor: ChainLink | null): Promise<CommandResult> {
  const document = await verifyAuditChain(database, anchor);
  const { fault, head, links } = document;
  if (fault !== null) {
    const { entryId, position } = fault;
    const subject = entryId === null ? `the link ${position}` : `entry ${entryId}`;
    const text = `Broken after ${links} link(s): ${subject} ${FAULTS[fault.kind]}.`;
    return { document, text, exit: EXIT.failed };
  }
  if (head === null) return { document, text: 'The audit log is empty.' };
  const kept = `Head, to be kept elsewhere: ${head.position}:${head.hash}`;
  return { document, text: `${links} entries, none changed.\n${kept}` };
}

export const COMMANDS = [verify];

function toAnchor(text: string): ChainLink {
  const [, position = '', hash = ''] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === '') {
    throw new InvalidArgumentError('expected <position>:<hash> as an earlier run printed it');
  }
  return { position: Number(position), hash };
}
