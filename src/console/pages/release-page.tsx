import type { ReleasePreview } from '../../staging/release-preview.ts';
import type { PageContext } from '../page-context.ts';
import { Field } from './layout.tsx';
import { ActionForm, Amount, Card, DayLink, TableFrame } from './parts.tsx';

export function ReleasePage(props: {
  readonly context: PageContext;
  readonly pullId: bigint;
  readonly preview: ReleasePreview | null;
}) {
  const { context, preview } = props;
  const { text, formats } = context;
  const { release } = text;
  if (preview === null) {
    return (
      <>
        <h1>{release.title(String(props.pullId))}</h1>
        <p>{release.gone}</p>
      </>
    );
  }
  return (
    <>
      <div>
        <h1>{release.title(String(props.pullId))}</h1>
        <p class="quiet">{release.intro}</p>
      </div>
      <Card title={text.days.table}>
        <TableFrame label={text.days.table}>
          <table class="data">
            <thead>
              <tr>
                <th scope="col">{text.days.date}</th>
                <th scope="col" class="right">
                  {release.now}
                </th>
                <th scope="col" class="right">
                  {release.response}
                </th>
                <th scope="col" class="right">
                  {text.day.kinds.withdrawn}
                </th>
                <th scope="col" class="right">
                  {release.withdrawnSum}
                </th>
                <th scope="col" class="right">
                  {text.day.kinds.changed}
                </th>
                <th scope="col" class="right">
                  {text.day.kinds.inserted}
                </th>
                <th scope="col">{text.day.reason}</th>
              </tr>
            </thead>
            <tbody>
              {preview.dates.map((date) => (
                <tr key={date.date}>
                  <th scope="row">
                    <DayLink context={context} date={date.date} />
                  </th>
                  <td class="right number">{formats.count(date.currentTitles)}</td>
                  <td class="right number">{formats.count(date.responseTitles)}</td>
                  <td class="right number">{formats.count(date.withdrawn)}</td>
                  <td class="right">
                    <Amount context={context} value={date.withdrawnSum} />
                  </td>
                  <td class="right number">{formats.count(date.changed)}</td>
                  <td class="right number">{formats.count(date.inserted + date.restored)}</td>
                  <td>
                    {date.holdReason !== null && release.reasons[date.holdReason]}
                    {date.isSignedOff && <strong> {release.signedOff}</strong>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableFrame>
      </Card>
      <Card title={text.release.release}>
        <ActionForm context={context} action={`/pulls/${props.pullId}/release`}>
          <Field label={release.confirm}>
            <input name="reason" required maxLength={500} />
          </Field>
          <button type="submit" class="button danger">
            {release.release}
          </button>
          <p class="quiet small">{release.releaseHelp}</p>
        </ActionForm>
      </Card>
      {preview.withdrawals.length > 0 && (
        <Card title={release.withdrawals}>
          <TableFrame label={release.withdrawals}>
            <table class="data">
              <thead>
                <tr>
                  <th scope="col">{text.titles.order}</th>
                  <th scope="col">{text.titles.accepted}</th>
                  <th scope="col">{text.titles.provider}</th>
                  <th scope="col">{text.title.agent}</th>
                  <th scope="col" class="right">
                    {text.titles.value}
                  </th>
                </tr>
              </thead>
              <tbody>
                {preview.withdrawals.map((title) => (
                  <tr key={title.titleId}>
                    <th scope="row">
                      <a href={`/titles/${title.titleId}`}>{title.orderUid}</a>
                    </th>
                    <td>
                      <DayLink context={context} date={title.date} />
                    </td>
                    <td>{title.provider ?? '–'}</td>
                    <td>{title.agent ?? '–'}</td>
                    <td class="right">
                      <Amount context={context} value={title.originalValue} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </TableFrame>
        </Card>
      )}
    </>
  );
}
