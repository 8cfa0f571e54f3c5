import {
  cancelBackfill,
  createBackfill,
  MAX_BACKFILL_CONCURRENCY,
  readBackfills,
} from '../features/backfills/backfill-ledger.sql.ts';
import {
  argument,
  idOf,
  integerFrom,
  preset,
  required,
  stagingCommand,
  toDate,
} from './command.ts';
import { formatCount, renderTable, right } from './output/table.ts';

const add = stagingCommand({
  name: 'backfill add',
  does: 'ask the service to pull a range of dates, day by day',
  words: {
    from: required('<date>', 'first date', toDate),
    to: required('<date>', 'last date, not in the future', toDate),
    concurrency: preset('<n>', 'dates at once', 2, integerFrom(1, MAX_BACKFILL_CONCURRENCY)),
  },
  help: `Records the backfill. A running service pulls every date of the range once, in any state. Titles that did not
change are not written. One request at a time is reserved for the pulls that are due today.

Example: conciliation backfill add --from 2026-01-01 --to 2026-03-31 --concurrency 3`,
  async run(database, { from, to, concurrency }, { by, today }) {
    const id = await createBackfill(database, { range: { from, to }, concurrency, by }, today);
    return {
      document: { backfillId: Number(id) },
      text: `Backfill ${id} is recorded. A running service begins with it within a minute; "conciliation backfill list" shows its progress.`,
    };
  },
});

const MAX_LISTED = 50;

const list = stagingCommand({
  name: 'backfill list',
  does: `show the newest ${MAX_LISTED} backfills`,
  help: '',
  async run(database) {
    const backfills = await readBackfills(database.prisma, { offset: 0, limit: MAX_LISTED });
    const heads = ['from', 'to', 'state', ...['pulled', 'failed', 'held', 'of'].map(right), 'by'];
    const table = renderTable(
      [right('number'), ...heads],
      backfills.map(({ id, from, to, state, done, failed, held, total, requestedBy }) => [
        ...[String(id), from, to, state],
        ...[done, failed, held, total].map(formatCount),
        requestedBy,
      ]),
    );
    return {
      document: { backfills },
      text: backfills.length === 0 ? 'There is no backfill.' : table,
    };
  },
});

const cancel = stagingCommand({
  name: 'backfill cancel',
  does: 'stop a backfill; the dates that were pulled stay',
  words: { id: argument('the number of the backfill', idOf('backfill')) },
  help: '',
  async run(database, { id }, { by }) {
    await cancelBackfill(database, id, by);
    return {
      document: { backfillId: Number(id), state: 'cancelled' },
      text: `Backfill ${id} is cancelled; pulled dates stay.`,
    };
  },
});

export const COMMANDS = [add, list, cancel];
