import { parseCivilDate } from '../../../base/values/business-day.ts';
import type { ChangedField } from '../../../console/api/schema-parts.ts';
import { type Column, ListTable } from '../../../console/list/columns.tsx';
import { maskColumn } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { PlatformValue } from '../../../console/shell/parts.tsx';
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
    return AMOUNT_COLUMN.test(column) ? (
      context.formats.amount(shown)
    ) : (
      <PlatformValue value={shown} />
    );
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

const CHANGE_COLUMNS: readonly Column<TitleChange>[] = [
  {
    name: 'order',
    head: 'titles.order',
    kind: 'text',
    cell: ({ titleId, orderUid }) =>
      titleId === null ? orderUid : <a href={`/titles/${titleId}`}>{orderUid}</a>,
    isHead: true,
    only: 'page',
  },
  {
    name: 'change',
    head: 'day.change',
    kind: 'text',
    cell: ({ kind }, { text }) => <span class={`tag is-${kind}`}>{text(`day.kinds.${kind}`)}</span>,
    only: 'page',
  },
  {
    name: 'changes',
    head: 'day.beforeAfter',
    kind: 'text',
    cell: ({ fields }) => <FieldChanges fields={fields} isRevealed={false} />,
    only: 'page',
  },
  { name: 'original_value', head: 'titles.value', kind: 'amount' },
];

const PULL_COLUMN: Column<TitleChange> = {
  name: 'pull',
  head: 'day.pullNumber',
  kind: 'text',
  value: ({ pullId }) => String(pullId),
};

export function ChangesTable(props: {
  readonly label: string;
  readonly moved: ChangedTitles<TitleChange>;
}) {
  const { moved } = props;
  const { text, formats } = usePage();
  const isPlanned = moved.titles.every(({ pullId }) => pullId === null);
  if (moved.count === 0) return <p class="quiet">{text('day.movedNone')}</p>;
  return (
    <>
      <p class="buttons">
        {CHANGE_KINDS.filter((kind) => moved.counts[kind] > 0).map((kind) => (
          <span key={kind} class={`tag is-${kind}`}>
            {text(`day.kinds.${kind}`)}: {formats.count(moved.counts[kind])}
          </span>
        ))}
      </p>
      {/* Of a first pull, another page lists the titles. */}
      {moved.titles.length > 0 && (
        <ListTable
          label={props.label}
          columns={isPlanned ? CHANGE_COLUMNS : [...CHANGE_COLUMNS, PULL_COLUMN]}
          rows={moved.titles}
        />
      )}
      {moved.titles.length > 0 && moved.count > moved.titles.length && (
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
