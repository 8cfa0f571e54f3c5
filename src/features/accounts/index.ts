import type { Feature } from '../../console/shell/console-parts.ts';
import {
  accountComparison,
  endReturned,
  findChanges,
  type PartyAccounts,
  recordChanges,
  stageAccounts,
} from './account-watch.sql.ts';
import { ACCOUNT_CHANGES, DECIDE_CHANGES } from './pages/account-changes-page.tsx';
import { holdAnew, holdPayments } from './payment-holds.sql.ts';

/** The row `compared` of `accountComparison`. */
interface Compared {
  readonly parties: readonly PartyAccounts[] | null;
  readonly has_open_change: boolean;
}

export const accounts: Feature = {
  name: 'accounts',
  lists: [ACCOUNT_CHANGES],
  actions: [DECIDE_CHANGES],
  engine: {
    beforePlan: holdAnew,
    async inOwnDate(tx, pull, { isChanged }) {
      if (isChanged) await stageAccounts(tx, pull);
    },
    inClosing: {
      expressions: accountComparison,
      answer: 'compared',
      async finish(tx, pull, answer) {
        const { parties, has_open_change: hasOpenChange } = answer as Compared;
        const { changes, named } = findChanges(parties ?? [], pull.date);
        const hasNewChange = changes.length > 0;
        if (hasNewChange) await recordChanges(tx, pull, changes);
        if (hasOpenChange || hasNewChange) await holdPayments(tx, pull);
        if (named.length > 0) await endReturned(tx, pull, named);
      },
    },
  },
};
