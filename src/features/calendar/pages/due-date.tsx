import type { CivilDate } from '../../../base/values/business-day.ts';
import { usePage } from '../../../console/shell/page-context.ts';

/** A due date, and the business day on which the payment is made, where that is another day. */
export function DueDate(props: {
  readonly date: CivilDate | null;
  readonly businessDay: CivilDate | null;
}) {
  const { date, businessDay } = props;
  const { text, formats } = usePage();
  if (date === null) return null;
  return (
    <>
      {formats.date(date)}
      {businessDay !== null && businessDay !== date && (
        <span class="quiet small">
          {' '}
          {text('calendar.paidOn', { date: formats.date(businessDay) })}
        </span>
      )}
    </>
  );
}
