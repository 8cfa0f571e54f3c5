import { type Static, type TObject, Type } from 'typebox';
import { addDays, lastClosedDate } from '../../base/values/business-day.ts';
import { declareOperation } from '../../console/api/api-request.ts';
import { id, ledgerDate } from '../../console/api/schema-parts.ts';
import { declareAction, reason } from '../../console/declare.tsx';
import { declareList } from '../../console/list/list.tsx';
import { type ConsoleParts, type Feature, todayOf } from '../../console/shell/console-parts.ts';
import { actorOf } from '../../console/shell/guard.ts';
import { authorText, Instant } from '../../console/shell/parts.tsx';
import { OPERATE } from '../../console/shell/route-access.ts';
import { readCheckpoint } from '../../core/ledger/pull-requests.sql.ts';
import {
  Backfill,
  cancelBackfill,
  changeSchedule,
  createBackfill,
  MAX_BACKFILL_CONCURRENCY,
  planBackfills,
  readBackfillProgress,
  readBackfills,
} from './backfill-ledger.sql.ts';

const DEFAULT_CONCURRENCY = 2;

/** The newest backfills first, below the form that starts one. */
const BACKFILLS = declareList(Backfill, {
  name: 'backfills',
  path: '/backfills',
  active: '/backfills',
  filter: {},
  isUnderWay: (backfills) => backfills.some(({ state }) => state === 'running'),
  columns: [
    { name: 'id', head: 'backfills.number', kind: 'count', isHead: true },
    { name: 'from', head: 'backfills.from', kind: 'date' },
    { name: 'to', head: 'backfills.to', kind: 'date' },
    {
      name: 'state',
      head: 'backfills.state',
      word: ({ state }) => `backfills.states.${state}`,
      cell: ({ id, state }, { text }) => (
        <>
          {text(`backfills.states.${state}`)}
          {state === 'running' && (
            <CANCEL.Form
              values={{ id }}
              button={text('backfills.cancel')}
              look="danger"
              help={text('backfills.cancelHelp')}
            />
          )}
        </>
      ),
    },
    {
      name: 'progress',
      head: 'backfills.progress',
      value: (backfill, { text, formats }) =>
        text('backfills.progressOf', {
          done: formats.count(backfill.done + backfill.failed + backfill.held),
          total: formats.count(backfill.total),
        }),
    },
    { name: 'held', head: 'backfills.held', kind: 'count' },
    { name: 'failed', head: 'backfills.failed', kind: 'count' },
    { name: 'requested_by', head: 'backfills.by', kind: 'author' },
    { name: 'created_at', head: 'backfills.at', kind: 'instant' },
    { name: 'finished_at', head: 'backfills.finished', kind: 'instant' },
  ],
  read: async (tx, _, place) => ({
    total: { rows: await tx.backfill.count() },
    rows: await readBackfills(tx, place),
  }),
  api: { tag: 'backfills', operationId: 'listBackfills', summary: 'The newest backfills' },
  layout: async ({ database, timeZone, now }) => {
    const pause = (await readCheckpoint(database))?.pause;
    const to = lastClosedDate(timeZone, now?.() ?? new Date());
    return ({ page: { text }, head, table }) => (
      <>
        {head}
        {pause ? (
          <section class="card stack">
            <p>{text('backfills.paused')}</p>
            <p>
              {authorText(text, pause.by)}, <Instant at={pause.at} />: {pause.reason}
            </p>
            <RESUME_SCHEDULE.Form button={text('backfills.resumeSchedule')} />
          </section>
        ) : (
          <PAUSE_SCHEDULE.Form
            button={text('backfills.pause')}
            help={text('backfills.pauseHelp')}
            isFolded
          />
        )}
        <START_BACKFILL.Form
          class="card filters"
          values={{ from: addDays(to, -6), to, concurrency: DEFAULT_CONCURRENCY }}
          button={text('backfills.start')}
          look="primary"
        />
        {table}
      </>
    );
  },
});

const STARTED = {
  from: ledgerDate,
  to: ledgerDate,
  concurrency: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_BACKFILL_CONCURRENCY, default: DEFAULT_CONCURRENCY }),
  ),
};
type Started = Static<TObject<typeof STARTED>>;

const START_BACKFILL = declareAction({
  path: '/backfills',
  who: OPERATE,
  input: STARTED,
  fields: {
    from: { label: 'backfills.from' },
    to: { label: 'backfills.to' },
    concurrency: { label: 'backfills.concurrency' },
  },
  deed: startBackfill,
  next: () => '/backfills',
});

const CANCEL = declareAction({
  path: '/backfills/:id/cancel',
  who: OPERATE,
  input: { id },
  deed: cancel,
  next: () => '/backfills',
  notice: 'backfill_cancelled',
});

const scheduleOf = (word: 'pause' | 'resume') =>
  declareAction({
    path: `/${word}-schedule`,
    who: OPERATE,
    input: { reason },
    deed: async ({ database, plan }, { reason }, by) => {
      await changeSchedule(database, `schedule.${word}`, { by, reason });
      plan();
    },
    next: () => '/backfills',
    notice: `schedule_${word}d`,
  });
const PAUSE_SCHEDULE = scheduleOf('pause');
const RESUME_SCHEDULE = scheduleOf('resume');

const BACKFILL_ACTIONS = [START_BACKFILL, CANCEL, PAUSE_SCHEDULE, RESUME_SCHEDULE];

/** @throws InputError for an invalid range */
async function startBackfill(
  parts: ConsoleParts,
  { concurrency = DEFAULT_CONCURRENCY, ...range }: Started,
  by: string,
): Promise<bigint> {
  const id = await createBackfill(parts.database, { range, concurrency, by }, todayOf(parts));
  parts.plan();
  return id;
}

/** The planner gives the places of the cancelled pulls to other pulls. */
async function cancel(
  { database, plan }: ConsoleParts,
  { id }: { readonly id: number },
  by: string,
): Promise<void> {
  await cancelBackfill(database, BigInt(id), by);
  plan();
}

const BACKFILLS_API = [
  declareOperation({
    path: '/backfills/:id',
    scope: 'read',
    tag: 'backfills',
    operationId: 'getBackfill',
    summary: 'How far a backfill is',
    input: { id },
    answer: Backfill,
    run: ({ database }, { id }) => readBackfillProgress(database, BigInt(id)),
  }),
  declareOperation({
    method: 'POST',
    path: '/backfills',
    who: OPERATE,
    scope: 'pull',
    tag: 'backfills',
    operationId: 'startBackfill',
    summary: 'Pull a range day by day',
    input: STARTED,
    status: 201,
    answer: Backfill,
    run: async (parts, started, request) => {
      const id = await startBackfill(parts, started, actorOf(request));
      return readBackfillProgress(parts.database, id);
    },
  }),
  declareOperation({
    method: 'POST',
    path: '/backfills/:id/cancel',
    who: OPERATE,
    scope: 'pull',
    tag: 'backfills',
    operationId: 'cancelBackfill',
    summary: 'Stop a backfill; pulled dates stay',
    input: { id },
    answer: Backfill,
    run: async (parts, { id }, request) => {
      await cancel(parts, { id }, actorOf(request));
      return readBackfillProgress(parts.database, BigInt(id));
    },
  }),
];

export const backfills: Feature = {
  name: 'backfills',
  engine: {
    inPlanning: (tx, { maxOpenBackfillPulls }) => planBackfills(tx, maxOpenBackfillPulls),
  },
  actions: BACKFILL_ACTIONS,
  lists: [BACKFILLS],
  api: BACKFILLS_API,
};
