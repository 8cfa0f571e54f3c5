import { isImplausible } from '../../domain/checks/plausibility.ts';
import type { ReleasePreview } from '../../pull/release-preview.sql.ts';
import { DataTable, right } from '../shell/data-table.tsx';
import { Field } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { ActionForm, AmountCell, Card, DayCell, DayLink, Submit } from '../shell/parts.tsx';
import { holdText } from './hold-text.ts';

export function ReleasePage(props: {
  readonly pullId: bigint;
  readonly preview: ReleasePreview | null;
  /** Other held pulls of the run that one decision can release. */
  readonly others: number;
}) {
  const context = usePage();
  const { preview } = props;
  const { text, formats } = context;
  if (preview === null) {
    return (
      <>
        <nav class="crumbs" aria-label={text('nav.days')}>
          <a href="/">← {text('nav.days')}</a>
        </nav>
        <h1>{text('release.title', { pull: String(props.pullId) })}</h1>
        <p>{text('release.gone')}</p>
      </>
    );
  }
  return (
    <>
      <nav class="crumbs" aria-label={text('nav.days')}>
        <a href={`/days/${preview.date}`}>← {formats.date(preview.date)}</a>
      </nav>
      <div>
        <h1>{text('release.title', { pull: String(props.pullId) })}</h1>
        <p class="quiet">{text('release.intro')}</p>
      </div>
      <Card title={text('release.change')}>
        <p>
          {isImplausible(preview.holdReason)
            ? holdText(context, preview.holdReason, preview.holdDetail)
            : preview.holdReason !== null && text(`release.reasons.${preview.holdReason}`)}
          {preview.isSignedOff && <strong> {text('release.signedOff')}</strong>}
        </p>
        <DataTable
          label={text('release.change')}
          heads={[
            text('days.date'),
            right(text('release.now')),
            right(text('release.response')),
            right(text('days.withdrawn')),
            right(text('release.withdrawnSum')),
            right(text('release.changed')),
            right(text('release.added')),
          ]}
        >
          <tr>
            <th scope="row">
              <DayLink date={preview.date} />
            </th>
            <td class="right number">{formats.count(preview.currentTitles)}</td>
            <td class="right number">{formats.count(preview.responseTitles)}</td>
            <td class="right number">{formats.count(preview.withdrawn)}</td>
            <AmountCell value={preview.withdrawnSum} />
            <td class="right number">{formats.count(preview.changed)}</td>
            <td class="right number">{formats.count(preview.inserted + preview.restored)}</td>
          </tr>
        </DataTable>
        {preview.rejected > 0 && (
          <p class="small">
            {text('days.rejected')}: {formats.count(preview.rejected)}.{' '}
            {preview.withheld > 0 && text('release.withheld', { count: preview.withheld })}
          </p>
        )}
      </Card>
      <Card title={text('release.release')}>
        <ActionForm action={`/pulls/${props.pullId}/release`}>
          <Field label={text('release.confirm')}>
            <input name="reason" required maxLength={500} />
          </Field>
          {props.others > 0 && (
            <label>
              <input type="checkbox" name="run" value="on" />{' '}
              {text('release.wholeRun', { count: props.others })}
            </label>
          )}
          <Submit class="danger">{text('release.release')}</Submit>
          <p class="quiet small">{text('release.releaseHelp')}</p>
        </ActionForm>
      </Card>
      <PreviewedTitles
        preview={preview}
        label={text('release.withdrawals')}
        titles={preview.withdrawals}
      />
      <PreviewedTitles
        preview={preview}
        label={text('release.concerned')}
        titles={preview.concerned}
      />
    </>
  );
}

function PreviewedTitles(props: {
  readonly preview: ReleasePreview;
  readonly label: string;
  readonly titles: ReleasePreview['withdrawals'];
}) {
  const { preview, label } = props;
  const { text } = usePage();
  if (props.titles.length === 0) return null;
  return (
    <Card title={label}>
      <DataTable
        label={label}
        heads={[
          text('titles.order'),
          text('titles.accepted'),
          text('titles.provider'),
          text('title.groups.agent'),
          right(text('titles.value')),
        ]}
      >
        {props.titles.map((title, index) => (
          <tr key={index}>
            <th scope="row">
              {title.titleId === null ? (
                title.orderUid
              ) : (
                <a href={`/titles/${title.titleId}`}>{title.orderUid}</a>
              )}
            </th>
            <DayCell date={preview.date} />
            <td>{title.provider ?? '–'}</td>
            <td>{title.agent ?? '–'}</td>
            <AmountCell value={title.originalValue} />
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}
