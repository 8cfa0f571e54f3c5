/** The actions of a person on one day. */
import { Type } from 'typebox';
import { recordAudit } from '../../../base/audit/audit.ts';
import { describeError } from '../../../base/runtime/logger.ts';
import { refusal } from '../../../base/texts/texts.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { ledgerDate } from '../../../console/api/schema-parts.ts';
import { declareAction, reason } from '../../../console/declare.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { DECIDE, OPERATE, REVIEW } from '../../../console/shell/route-access.ts';
import { createPull } from '../../../core/ledger/pull-ledger.sql.ts';
import { acceptRejects, reopenDay, signOffDay } from '../sign-off.sql.ts';

const date = ledgerDate;
const next = (input: { readonly date: string }) => `/days/${input.date}`;

export const PULL_DAY = declareAction({
  path: '/days/:date/pull',
  who: OPERATE,
  input: { date },
  deed: (parts, { date }, by) => requestPull(parts, date, by),
  next,
  notice: 'pull_requested',
});

export const SIGN_DAY = declareAction({
  path: '/days/:date/sign-off',
  who: REVIEW,
  input: { date, digest: Type.Optional(Type.String()), reason: Type.Optional(reason) },
  deed: (parts, { date, digest: seenDigest = '', reason = null }, by) =>
    signOffDay(parts.database, date, { ...parts, by, reason, seenDigest }),
  next,
  notice: 'signed_off',
});

export const REOPEN_DAY = declareAction({
  path: '/days/:date/reopen',
  who: REVIEW,
  input: { date, reason },
  deed: ({ database }, { date, reason }, by) => reopenDay(database, date, { by, reason }),
  next,
  notice: 'reopened',
});

export const ACCEPT_REJECTS = declareAction({
  path: '/days/:date/accept-rejects',
  who: DECIDE,
  input: { date, reason },
  deed: ({ database }, { date, reason }, by) => acceptRejects(database, date, { by, reason }),
  next,
  notice: 'accepted',
});

export const DAY_ACTIONS = [PULL_DAY, SIGN_DAY, REOPEN_DAY, ACCEPT_REJECTS];

/**
 * Records a request to pull a date, with its entry of the audit log, and wakes a worker. If the queue is not available,
 * the planner wakes the worker later.
 * @throws InputError for a date that has not begun
 */
export async function requestPull(
  parts: ConsoleParts,
  date: CivilDate,
  by: string,
): Promise<bigint> {
  const { database, logger, wake } = parts;
  if (date > todayOf(parts)) throw refusal('date_future', { date });
  const pullId = await database.prisma.$transaction(async (tx) => {
    const id = await createPull({ prisma: tx }, { origin: 'manual', date, requestedBy: by });
    await recordAudit(tx, { actor: by, action: 'pull.request', date, pullId: id });
    return id;
  });
  await wake(pullId).catch((error: unknown) => {
    logger.warn({ pullId: String(pullId), err: describeError(error) }, 'no worker was woken');
  });
  return pullId;
}
