import type { FastifyInstance } from 'fastify';
import { InputError } from '../../../base/runtime/errors.ts';
import { addDays, lastClosedDate, parseCivilDate } from '../../../base/values/business-day.ts';
import { declareList } from '../../../console/list/list.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { faultSentence } from '../../../console/shell/error-page.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { textParameter, usePage } from '../../../console/shell/page-context.ts';
import {
  ActionForm,
  Author,
  authorText,
  FormFault,
  Instant,
  Submit,
} from '../../../console/shell/parts.tsx';
import { actorOf, idOfPath } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, mayUse, OPERATE } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import {
  Backfill,
  type BackfillProgress,
  cancelBackfill,
  createBackfill,
  readBackfillProgress,
  readBackfills,
  resumeBackfill,
} from '../backfill-ledger.sql.ts';
import { type BackfillRange, MAX_BACKFILL_CONCURRENCY } from '../backfill-plan.ts';

const DEFAULT_CONCURRENCY = '2';
/** After so many seconds a browser asks for the page of a running backfill again. */
const REFRESH_SECONDS = 5;

/** The newest backfills first, below the form that starts one. */
export const BACKFILLS = declareList(Backfill, {
  name: 'backfills',
  path: '/backfills',
  active: '/backfills',
  filter: {},
  columns: [
    {
      name: 'id',
      head: 'backfills.number',
      kind: 'count',
      value: ({ id }) => id,
      cell: ({ id }) => <a href={`/backfills/${id}`}>{id}</a>,
      isHead: true,
    },
    { name: 'from', head: 'backfills.from', kind: 'date', value: ({ from }) => from },
    { name: 'to', head: 'backfills.to', kind: 'date', value: ({ to }) => to },
    {
      name: 'state',
      head: 'backfills.state',
      kind: 'text',
      value: ({ state }, { text }) => text(`backfills.states.${state}`),
    },
    {
      name: 'progress',
      head: 'backfills.progress',
      kind: 'text',
      value: (backfill, { text, formats }) =>
        text('backfills.progressOf', {
          done: formats.count(endedOf(backfill)),
          total: formats.count(backfill.total),
        }),
    },
    {
      name: 'requested_by',
      head: 'backfills.by',
      kind: 'text',
      value: ({ requestedBy }, { text }) => authorText(text, requestedBy),
    },
    {
      name: 'created_at',
      head: 'backfills.at',
      kind: 'instant',
      value: ({ createdAt }) => createdAt,
    },
  ],
  total: async (db) => ({ rows: await db.backfill.count() }),
  read: (db, _, place) => readBackfills(db, place),
  api: { tag: 'backfills', operationId: 'listBackfills', summary: 'The newest backfills' },
  layout: async ({ timeZone, now }) => {
    const to = lastClosedDate(timeZone, now?.() ?? new Date());
    const form = { from: addDays(to, -6), to, concurrency: DEFAULT_CONCURRENCY };
    return ({ head, table }) => (
      <>
        {head}
        <StartForm form={form} fault={null} />
        {table}
      </>
    );
  },
});

/** @param props.form the fields, as they were written */
function StartForm(props: {
  readonly form: { readonly from: string; readonly to: string; readonly concurrency: string };
  /** Why the form cannot be carried out; null: it was not sent. */
  readonly fault: string | null;
}) {
  const { form, fault } = props;
  const { text, principal } = usePage();
  if (!mayUse(principal?.role ?? 'viewer', 'POST', '/backfills')) return null;
  return (
    <ActionForm action="/backfills" class="card filters">
      <Field label={text('backfills.from')}>
        <input type="date" name="from" required value={form.from} />
      </Field>
      <Field label={text('backfills.to')}>
        <input type="date" name="to" required value={form.to} />
      </Field>
      <Field label={text('backfills.concurrency')}>
        <input
          type="number"
          name="concurrency"
          min="1"
          max={MAX_BACKFILL_CONCURRENCY}
          value={form.concurrency}
        />
      </Field>
      <div class="buttons">
        <Submit class="primary">{text('backfills.start')}</Submit>
      </div>
      <FormFault fault={fault} />
    </ActionForm>
  );
}

/** The number of dates whose pull has come to an end. */
const endedOf = ({ done, failed, held }: BackfillProgress) => done + failed + held;

function BackfillPage({ backfill }: { readonly backfill: BackfillProgress }) {
  const context = usePage();
  const { text, formats } = context;
  const role = context.principal?.role ?? 'viewer';
  const ended = endedOf(backfill);
  const isRunning = backfill.state === 'running';
  const rows = [
    ['done', text('backfills.pulled')],
    ['open', text('backfills.open')],
    ['held', text('backfills.held')],
    ['failed', text('backfills.failed')],
    ['titles', text('backfills.titlesSeen')],
  ] as const;
  return (
    <>
      <nav class="crumbs" aria-label={text('lists.backfills.title')}>
        <a href="/backfills">← {text('lists.backfills.title')}</a>
      </nav>
      <div class="day-head">
        <h1>
          {text('backfills.number')} {backfill.id}
        </h1>
        <span class="tag">{text(`backfills.states.${backfill.state}`)}</span>
      </div>
      <section class="card stack">
        <p>
          {formats.date(backfill.from)} – {formats.date(backfill.to)}
        </p>
        <div>
          <progress max={backfill.total} value={ended} aria-label={text('backfills.progress')} />
          <p>
            {text('backfills.progressOf', {
              done: formats.count(ended),
              total: formats.count(backfill.total),
            })}
          </p>
        </div>
        <dl class="fields">
          {rows.map(([name, label]) => (
            <>
              <dt key={`${name} label`}>{label}</dt>
              <dd key={name}>{formats.count(backfill[name])}</dd>
            </>
          ))}
          <dt>{text('backfills.by')}</dt>
          <dd>
            <Author name={backfill.requestedBy} />
          </dd>
          <dt>{text('backfills.at')}</dt>
          <dd>
            <Instant at={backfill.createdAt} />
          </dd>
          <dt>{text('backfills.finished')}</dt>
          <dd>
            <Instant at={backfill.finishedAt} />
          </dd>
        </dl>
        {isRunning && mayUse(role, 'POST', '/backfills/:id/cancel') && (
          <ActionForm action={`/backfills/${backfill.id}/cancel`}>
            <Submit class="danger">{text('backfills.cancel')}</Submit>
            <p class="quiet small">{text('backfills.cancelHelp')}</p>
          </ActionForm>
        )}
        {backfill.state === 'cancelled' && mayUse(role, 'POST', '/backfills/:id/resume') && (
          <ActionForm action={`/backfills/${backfill.id}/resume`}>
            <Submit>{text('backfills.resume')}</Submit>
          </ActionForm>
        )}
      </section>
    </>
  );
}

/** Adds the routes that start, watch and cancel backfills. */
export function addBackfillRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  server.post('/backfills', forPeople(OPERATE), async (request, reply) => {
    const { body } = request;
    const written = (name: string) => textParameter(body, name) ?? '';
    const form = { from: written('from'), to: written('to'), concurrency: written('concurrency') };
    try {
      const id = await startBackfill(parts, body, actorOf(request));
      return reply.redirect(`/backfills/${id}`, 303);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return sendPage(request, reply, parts, (context) => ({
        title: context.text('lists.backfills.title'),
        active: '/backfills',
        status: 400,
        body: <StartForm form={form} fault={faultSentence(context, error)} />,
      }));
    }
  });

  server.get('/backfills/:id', forPeople(EVERYBODY), async (request, reply) => {
    const id = idOfPath(request);
    const backfill = id === null ? null : await readBackfillProgress(database, id);
    if (backfill === null) return reply.callNotFound();
    return sendPage(request, reply, parts, (context) => ({
      title: `${context.text('backfills.number')} ${backfill.id}`,
      active: '/backfills',
      ...(backfill.state === 'running' && { refreshSeconds: REFRESH_SECONDS }),
      body: <BackfillPage backfill={backfill} />,
    }));
  });

  const change = (
    path: string,
    notice: string,
    deed: (id: bigint, by: string) => Promise<void>,
  ) => {
    server.post(path, forPeople(OPERATE), async (request, reply) => {
      const id = idOfPath(request);
      if (id === null) return reply.callNotFound();
      await deed(id, actorOf(request));
      parts.plan();
      return reply.redirect(`/backfills/${id}?notice=${notice}`, 303);
    });
  };
  change('/backfills/:id/cancel', 'backfill_cancelled', (id, by) =>
    cancelBackfill(database, id, by),
  );
  change('/backfills/:id/resume', 'backfill_resumed', (id, by) => resumeBackfill(database, id, by));
}

/** @throws InputError for an invalid range or concurrency */
export async function startBackfill(
  parts: ConsoleParts,
  source: unknown,
  by: string,
): Promise<bigint> {
  const asked = { ...parseBackfill(source), by };
  const id = await createBackfill(parts.database, asked, todayOf(parts));
  parts.plan();
  return id;
}

function parseBackfill(source: unknown): { range: BackfillRange; concurrency: number } {
  const from = parseCivilDate(textParameter(source, 'from') ?? '');
  const to = parseCivilDate(textParameter(source, 'to') ?? '');
  if (from === null || to === null) {
    throw new InputError('from and to: expected two dates as YYYY-MM-DD', {
      context: { fault: 'range_missing' },
    });
  }
  const concurrency = textParameter(source, 'concurrency') ?? DEFAULT_CONCURRENCY;
  return {
    range: { from, to },
    concurrency: /^\d{1,3}$/.test(concurrency) ? Number(concurrency) : 0,
  };
}
