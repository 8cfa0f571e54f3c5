/** The actions of a person on one day. */
import { Type } from 'typebox';
import { declareAction, ledgerDate, reason } from '../../../console/declare.tsx';
import { DECIDE, OPERATE, REVIEW } from '../../../console/shell/route-access.ts';
import { acceptRejects } from '../../../core/merge/decisions.sql.ts';
import { requestPull } from '../request-pull.ts';
import { reopenDay, signingRules, signOffDay } from '../sign-off.sql.ts';

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
    signOffDay(parts.database, date, { by, reason, seenDigest, ...signingRules(parts) }),
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
