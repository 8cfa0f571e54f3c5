import { DISCOUNTED_COLUMNS, DISCOUNTED_FIELDS } from '../../domain/amount-meaning.ts';
import { usePage } from '../shell/page-context.ts';

/** Names the shown fields whose meaning is not declared, with a link to what the titles say about them. */
export function Undocumented() {
  const context = usePage();
  const text = context.text.amountMeaning;
  const fields = DISCOUNTED_COLUMNS.filter((column) => context.meanings[column] === 'unknown').map(
    (column) => DISCOUNTED_FIELDS[column],
  );
  if (fields.length === 0) return null;
  return (
    <p class="quiet small">
      {text.undocumented(fields.join(', '))} <a href="/amount-meaning">{text.evidence}</a>
    </p>
  );
}
