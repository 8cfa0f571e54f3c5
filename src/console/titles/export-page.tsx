import type { CivilDate } from '../../domain/business-day.ts';
import { EXPORT_FORMATS } from '../../export/title-file.ts';
import { Field } from '../shell/layout.tsx';
import type { PageContext } from '../shell/page-context.ts';

export function ExportPage(props: {
  readonly context: PageContext;
  readonly from: CivilDate;
  readonly to: CivilDate;
  readonly isMasked: boolean;
}) {
  const { context } = props;
  const { exports } = context.text;
  return (
    <>
      <div>
        <h1>{exports.title}</h1>
        <p class="quiet">{exports.intro}</p>
      </div>
      <form method="post" action="/exports" class="card stack" data-download>
        <input type="hidden" name="_csrf" value={context.csrf} />
        <div class="filters">
          <Field label={exports.from}>
            <input type="date" name="from" required value={props.from} />
          </Field>
          <Field label={exports.to}>
            <input type="date" name="to" required value={props.to} />
          </Field>
          <Field label={exports.format}>
            <select name="format">
              {EXPORT_FORMATS.map((format) => (
                <option key={format} value={format}>
                  {exports.formats[format]}
                </option>
              ))}
            </select>
          </Field>
        </div>
        <label class="check">
          <input type="checkbox" name="includeWithdrawn" value="true" />
          {exports.withdrawn}
        </label>
        <div class="buttons">
          <button type="submit" class="button primary">
            {exports.download}
          </button>
        </div>
        <p class="quiet small">{props.isMasked ? exports.masked : exports.personal}</p>
      </form>
    </>
  );
}
