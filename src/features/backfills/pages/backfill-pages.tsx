import type { CivilDate } from '../../../base/values/business-day.ts';
import { DataTable } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  ActionForm,
  Author,
  FormFault,
  Instant,
  InstantCell,
  Submit,
} from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import type { BackfillProgress } from '../backfill-ledger.sql.ts';
import { MAX_BACKFILL_CONCURRENCY } from '../backfill-plan.ts';

/** The fields of the form, as they were written. */
export interface BackfillForm {
  readonly from: string;
  readonly to: string;
  readonly concurrency: string;
}

export function BackfillsPage(props: {
  readonly backfills: readonly BackfillProgress[];
  readonly form: BackfillForm;
  /** Why the form cannot be carried out; null: it was not sent. */
  readonly fault: string | null;
}) {
  const context = usePage();
  const { backfills, form } = props;
  const { text, formats } = context;
  const role = context.principal?.role ?? 'viewer';
  return (
    <>
      <div>
        <h1>{text('backfills.title')}</h1>
        <p class="quiet">{text('backfills.intro')}</p>
      </div>
      {mayUse(role, 'POST', '/backfills') && (
        <form method="post" action="/backfills" class="card filters">
          <input type="hidden" name="_csrf" value={context.csrf} />
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
          <FormFault fault={props.fault} />
        </form>
      )}
      <section class="card">
        {backfills.length === 0 ? (
          <p class="quiet">{text('backfills.none')}</p>
        ) : (
          <DataTable
            label={text('backfills.title')}
            heads={[
              text('backfills.number'),
              text('backfills.range'),
              text('backfills.state'),
              text('backfills.progress'),
              text('backfills.by'),
              text('backfills.at'),
            ]}
          >
            {backfills.map((backfill) => (
              <tr key={backfill.id}>
                <th scope="row">
                  <a href={`/backfills/${backfill.id}`}>{backfill.id}</a>
                </th>
                <td class="tight">
                  {formats.date(backfill.from)} – {formats.date(backfill.to)}
                </td>
                <td>{text(`backfills.states.${backfill.state}`)}</td>
                <td>
                  {text('backfills.progressOf', {
                    done: formats.count(endedOf(backfill)),
                    total: formats.count(backfill.total),
                  })}
                </td>
                <td>
                  <Author name={backfill.requestedBy} />
                </td>
                <InstantCell at={backfill.createdAt} />
              </tr>
            ))}
          </DataTable>
        )}
      </section>
    </>
  );
}

/** The number of dates whose pull has come to an end. */
const endedOf = ({ done, failed, held }: BackfillProgress) => done + failed + held;

export function BackfillPage({ backfill }: { readonly backfill: BackfillProgress }) {
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
      <nav class="crumbs" aria-label={text('backfills.title')}>
        <a href="/backfills">← {text('backfills.title')}</a>
      </nav>
      <div class="day-head">
        <h1>
          {text('backfills.number')} {backfill.id}
        </h1>
        <span class="tag">{text(`backfills.states.${backfill.state}`)}</span>
      </div>
      <section class="card stack">
        <p>
          <RangeText from={backfill.from} to={backfill.to} />
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

function RangeText(props: { from: CivilDate; to: CivilDate }) {
  const { formats } = usePage();
  return (
    <>
      {formats.date(props.from)} – {formats.date(props.to)}
    </>
  );
}
