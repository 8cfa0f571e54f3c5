import { parseCivilDate } from '../../../base/values/business-day.ts';
import type { ChangedField } from '../../../console/api/schema-parts.ts';
import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { maskColumn } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { AmountCell } from '../../../console/shell/parts.tsx';
import { CHANGE_KINDS, type ChangedTitles, type TitleChange } from '../changed-titles.sql.ts';

const AMOUNT_COLUMN = /_(?:value|fee)$/;

/**
 * The differing fields with the old and the new value. Identifiers are masked unless the reader may see them.
 */
export function FieldChanges(props: {
  readonly fields: readonly ChangedField[];
  readonly isRevealed: boolean;
}) {
  const context = usePage();
  const { isRevealed } = props;
  const { text } = context;
  const show = (column: string, value: string | null) => {
    const shown = isRevealed ? value : maskColumn(column, value);
    if (shown === null) return text('day.notStated');
    if (column === 'platform_commission') return context.formats.decimalText(shown);
    const date = column.endsWith('_date') ? parseCivilDate(shown) : null;
    if (date !== null) return context.formats.date(date);
    if (column === 'buyer_is_financial') return text(shown === 'true' ? 'title.yes' : 'title.no');
    return AMOUNT_COLUMN.test(column) ? context.formats.amount(shown) : shown;
  };
  return (
    <ul class="moves">
      {props.fields.map(({ column, before, after }) => (
        <li key={column}>
          <span class="quiet">{text.find(`title.fields.${column}`) ?? column}</span>
          <span>
            <del class="before">
              <span class="sr">{text('day.before')}: </span>
              {show(column, before)}
            </del>
            {' → '}
            <ins class="after">
              <span class="sr">{text('day.after')}: </span>
              {show(column, after)}
            </ins>
          </span>
        </li>
      ))}
    </ul>
  );
}

export function ChangesTable(props: {
  readonly label: string;
  readonly moved: ChangedTitles<TitleChange>;
}) {
  const { moved } = props;
  const { text, formats } = usePage();
  const isPlanned = moved.titles.every(({ pullId }) => pullId === null);
  if (moved.count === 0) return <p class="quiet">{text('day.movedNone')}</p>;
  const counts = (
    <p class="buttons">
      {CHANGE_KINDS.filter((kind) => moved.counts[kind] > 0).map((kind) => (
        <span key={kind} class={`tag is-${kind}`}>
          {text(`day.kinds.${kind}`)}: {formats.count(moved.counts[kind])}
        </span>
      ))}
    </p>
  );
  // Of a first pull, another page lists the titles.
  if (moved.titles.length === 0) return counts;
  return (
    <>
      {counts}
      <DataTable
        label={props.label}
        heads={[
          text('titles.order'),
          text('day.change'),
          `${text('day.before')} → ${text('day.after')}`,
          right(text('titles.value')),
          ...(isPlanned ? [] : [text('day.pullNumber')]),
        ]}
      >
        {moved.titles.map((title, index) => (
          <tr key={index}>
            <th scope="row">
              {title.titleId === null ? (
                title.orderUid
              ) : (
                <a href={`/titles/${title.titleId}`}>{title.orderUid}</a>
              )}
            </th>
            <td>
              <span class={`tag is-${title.kind}`}>{text(`day.kinds.${title.kind}`)}</span>
            </td>
            <td>
              <FieldChanges fields={title.fields} isRevealed={false} />
            </td>
            <AmountCell value={title.originalValue} />
            {!isPlanned && <td class="number">{title.pullId}</td>}
          </tr>
        ))}
      </DataTable>
      {moved.count > moved.titles.length && (
        <p class="quiet small">
          {text('day.movedCount', {
            shown: formats.count(moved.titles.length),
            count: formats.count(moved.count),
          })}
        </p>
      )}
    </>
  );
}
