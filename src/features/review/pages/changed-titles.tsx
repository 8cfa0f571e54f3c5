import { toCivilDate } from '../../../base/values/business-day.ts';
import type { ChangedField } from '../../../console/api/schema-parts.ts';
import { type Column, ListTable } from '../../../console/list/columns.tsx';
import { maskChange, maskColumn } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { PlatformValue } from '../../../console/shell/parts.tsx';
import { COLUMN_KINDS } from '../../../core/title/title.ts';
import { CHANGE_KINDS, type ChangedTitles, type TitleChange } from '../changed-titles.sql.ts';

const KINDS: Readonly<Record<string, string>> = COLUMN_KINDS;

/** A value of a title as text. Identifiers are masked unless the reader may see them. */
export function TitleValue(props: {
  readonly column: string;
  readonly value: string | null;
  readonly isRevealed: boolean;
}) {
  const { column, value, isRevealed } = props;
  const { text, formats } = usePage();
  const shown = isRevealed ? value : maskColumn(column, value);
  if (shown === null) return <span class="quiet">{text('day.notStated')}</span>;
  if (shown === '') return <span class="quiet">{text('title.empty')}</span>;
  switch (KINDS[column]) {
    case 'amount':
      return <>{formats.amount(shown)}</>;
    case 'decimal_text':
      return <>{formats.decimalText(shown)}</>;
    case 'date':
      return <>{formats.date(toCivilDate(shown))}</>;
    case 'boolean':
      return <>{text(shown === 'true' ? 'title.yes' : 'title.no')}</>;
    default:
      return <PlatformValue value={shown} />;
  }
}

/** The differing fields with the old and the new value. */
export function FieldChanges(props: {
  readonly fields: readonly ChangedField[];
  readonly isRevealed: boolean;
}) {
  const fields = props.isRevealed ? props.fields : props.fields.map(maskChange);
  const { text } = usePage();
  return (
    <ul class="moves">
      {fields.map(({ column, before, after }) => (
        <li key={column}>
          <span class="quiet">{text.find(`title.fields.${column}`) ?? column}</span>
          <span>
            <del class="before">
              <span class="sr">{text('day.before')}: </span>
              <TitleValue column={column} value={before} isRevealed />
            </del>
            {' → '}
            <ins class="after">
              <span class="sr">{text('day.after')}: </span>
              <TitleValue column={column} value={after} isRevealed />
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
    value: ({ orderUid }) => orderUid,
    href: ({ titleId }) => (titleId === null ? null : `/titles/${titleId}`),
    isHead: true,
  },
  {
    name: 'change',
    head: 'day.change',
    cell: ({ kind }, { text }) => <span class={`tag is-${kind}`}>{text(`day.kinds.${kind}`)}</span>,
    only: 'page',
  },
  {
    name: 'changes',
    head: 'day.beforeAfter',
    cell: ({ fields }) => <FieldChanges fields={fields} isRevealed={false} />,
    only: 'page',
  },
  { name: 'original_value', head: 'titles.value', kind: 'amount' },
];

const PULL_COLUMN: Column<TitleChange> = {
  name: 'pull',
  head: 'day.pullNumber',
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
