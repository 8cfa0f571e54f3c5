import { usePage } from '../../../console/shell/page-context.ts';
import type { FourEyesFault } from '../../../core/ledger/sign-off.ts';
import { FINDINGS } from '../../checks/pages/findings.tsx';
import { breaksHref } from '../../matching/pages/break-address.ts';
import type { LedgerDay } from '../ledger-days.sql.ts';
import type { Reservations } from './reservations.sql.ts';

/** The facts about a day that a person should know before the sign-off, with their number and value. */
export function Remarks(props: {
  readonly day: LedgerDay;
  readonly reservations: Reservations | undefined;
  readonly fault: FourEyesFault | null;
}) {
  const { day, reservations, fault } = props;
  const { text, formats } = usePage();
  const { date } = day;
  const counted = (label: string, count: number, value: string) =>
    `${label}: ${formats.count(count)} (${formats.amount(value)})`;
  const breaks = reservations?.breaks ?? [];
  const {
    equalTitles = 0,
    equalValue = '0',
    findings = 0,
    findingsValue = '0',
  } = reservations ?? {};
  const remarks = [
    fault === null ? null : text(`signOffs.excluded.${fault}`),
    ...breaks.map(({ kind, breaks: found, value, isUrgent }) => (
      <a key={kind} href={breaksHref({ date, kind })}>
        {counted(text(`matching.kinds.${kind}`), found, value)}
        {isUrgent && <span class="tag is-withdrawn">{text('matching.urgent')}</span>}
      </a>
    )),
    day.isRestated ? <a href="/restated">{text('signOffs.restated')}</a> : null,
    day.heldPayments > 0 ? (
      <a href="/account-changes">
        {counted(text('signOffs.paymentsHeld'), day.heldPayments, reservations?.heldValue ?? '0')}
      </a>
    ) : null,
    day.alterations > 0
      ? text('signOffs.altered', { count: formats.count(day.alterations) })
      : null,
    day.isChecked ? null : text('findings.notChecked'),
    equalTitles > 0 ? (
      <a href={FINDINGS.href({ date, check: 'equal_in_day' })}>
        {counted(text('checks.names.equal_in_day'), equalTitles, equalValue)}
      </a>
    ) : null,
    findings > 0 ? (
      <a href={FINDINGS.href({ date })}>
        {counted(text('lists.findings.title'), findings, findingsValue)}
      </a>
    ) : null,
    day.rejected > 0 ? text('signOffs.rejects', { count: formats.count(day.rejected) }) : null,
    day.withheld > 0 ? text('signOffs.withheld', { count: formats.count(day.withheld) }) : null,
  ].filter((remark) => remark !== null);
  if (remarks.length === 0) return <span class="quiet">–</span>;
  return (
    <ul class="small">
      {remarks.map((remark, index) => (
        <li key={index}>{remark}</li>
      ))}
    </ul>
  );
}
