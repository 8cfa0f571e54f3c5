import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { FormFault, Options, Submit } from '../../../console/shell/parts.tsx';
import type { DayState } from '../../../core/ledger/day-state.ts';
import type { DoubtfulDates } from '../export-titles.sql.ts';
import { EXPORT_FORMATS } from '../title-file.ts';

export function ExportPage(props: {
  /** The fields of the form, as they were written. */
  readonly form: {
    readonly from: string;
    readonly to: string;
    readonly format: string;
    readonly includeWithdrawn: boolean;
  };
  /** Why the form cannot be carried out; null: it was not sent. */
  readonly fault: string | null;
  /** The dates about which the person is asked before the download; null: none. */
  readonly doubtful: DoubtfulDates | null;
  readonly isMasked: boolean;
}) {
  const context = usePage();
  const { form } = props;
  const { text } = context;
  return (
    <>
      <div>
        <h1>{text('exports.title')}</h1>
        <p class="quiet">{text('exports.intro')}</p>
      </div>
      <form method="post" action="/exports" class="card stack" data-download>
        <input type="hidden" name="_csrf" value={context.csrf} />
        <div class="filters">
          <Field label={text('exports.from')}>
            <input type="date" name="from" required value={form.from} />
          </Field>
          <Field label={text('exports.to')}>
            <input type="date" name="to" required value={form.to} />
          </Field>
          <div class="wide">
            <Field label={text('exports.format')}>
              <select name="format">
                <Options
                  values={EXPORT_FORMATS}
                  chosen={form.format}
                  text={(format) => text(`exports.formats.${format}`)}
                />
              </select>
            </Field>
          </div>
        </div>
        <label class="check">
          <input
            type="checkbox"
            name="includeWithdrawn"
            value="true"
            checked={form.includeWithdrawn}
          />
          {text('exports.withdrawn')}
        </label>
        <FormFault fault={props.fault} />
        {props.doubtful !== null && (
          <Doubt doubtful={props.doubtful} range={`${form.from} ${form.to}`} />
        )}
        <div class="buttons">
          <Submit class="primary">
            {props.doubtful === null ? text('exports.download') : text('exports.downloadAnyway')}
          </Submit>
        </div>
        <p class="quiet small">
          {props.isMasked ? text('exports.masked') : text('exports.personal')}
        </p>
      </form>
    </>
  );
}

/** @param range the range that the question is about; another one is asked about again */
function Doubt(props: { readonly doubtful: DoubtfulDates; readonly range: string }) {
  const { doubtful } = props;
  const { text, formats } = usePage();
  const counts = Object.entries(doubtful.states) as [DayState, number][];
  return (
    <div class="error" role="alert">
      <p>{text('exports.doubtful')}</p>
      <ul>
        {doubtful.absent > 0 && (
          <li>
            {text('backfills.neverPulled')}: {formats.count(doubtful.absent)}
          </li>
        )}
        {counts.map(([state, days]) => (
          <li key={state}>
            {text(`states.${state}`)}: {formats.count(days)}
          </li>
        ))}
      </ul>
      <input type="hidden" name="confirmed" value={props.range} />
    </div>
  );
}
