import type { CivilDate } from '../../../base/values/business-day.ts';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  ActionForm,
  authorText,
  Card,
  DayLink,
  Disclosure,
  Submit,
} from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import type { FourEyesFault } from '../../../core/ledger/sign-off.ts';
import { FINDINGS } from '../../checks/pages/findings.tsx';
import { breaksHref } from '../../matching/pages/breaks-page.tsx';
import type { LedgerDay, Reservations } from '../ledger-days.sql.ts';
import type { SignOff } from '../sign-off.sql.ts';

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

export function SignOffCard(props: {
  readonly day: LedgerDay;
  readonly seals: readonly SignOff[];
  readonly reservations: Reservations | undefined;
  readonly fourEyesFault: FourEyesFault | null;
  readonly nextToSign: CivilDate | null;
}) {
  const context = usePage();
  const { day, seals } = props;
  const { text, formats } = context;
  const role = context.principal?.role ?? 'viewer';
  const mayReview = mayUse(role, 'POST', '/days/:date/sign-off');
  const isOpen = day.signedOffAt === null || day.isRestated;
  const isSignable = isOpen && day.state === 'reconciled' && mayReview;
  const ended = seals.filter((seal) => seal.endedAt !== null);
  const note = seals.find((seal) => seal.endedAt === null)?.reason ?? null;
  return (
    <Card title={text('day.signOff')}>
      <div class="stack">
        {day.signedOffAt !== null && day.signedOffBy !== null ? (
          <div>
            <p>
              {text('day.signedBy', {
                name: authorText(text, day.signedOffBy),
                at: formats.instant(day.signedOffAt),
              })}
            </p>
            {note !== null && <p class="quiet">{note}</p>}
          </div>
        ) : (
          <p>{text('day.notSigned')}</p>
        )}
        {isOpen && day.state !== 'reconciled' && <p class="quiet">{text('day.onlyReconciled')}</p>}
        {isOpen && day.state === 'reconciled' && !mayReview && (
          <p class="quiet">{text('day.reviewersSign')}</p>
        )}
        {isSignable && props.fourEyesFault !== null && (
          <p class="quiet">{text(`day.fourEyes.${props.fourEyesFault}`)}</p>
        )}
        {isOpen && <Remarks day={day} reservations={props.reservations} fault={null} />}
        {isSignable && day.heldPayments > 0 && <p class="quiet">{text('day.paymentsHeldSign')}</p>}
        {isSignable && day.heldPayments === 0 && props.fourEyesFault === null && (
          <ActionForm action={`/days/${day.date}/sign-off`}>
            <input type="hidden" name="digest" value={day.contentDigest ?? ''} />
            <Field label={text('day.note')}>
              <input name="reason" maxLength={500} />
            </Field>
            <Submit class="primary">
              {day.isRestated ? text('day.signAgain') : text('day.sign')}
            </Submit>
            <p class="quiet small">{text('day.signHelp')}</p>
          </ActionForm>
        )}
        {!isOpen && mayReview && props.nextToSign !== null && (
          <p>
            {text('signOffs.next')}: <DayLink date={props.nextToSign} /> ·{' '}
            <a href="/sign-offs">{text('signOffs.title')}</a>
          </p>
        )}
        {day.signedOffAt !== null && mayReview && (
          <Disclosure label={text('day.reopen')}>
            <ActionForm action={`/days/${day.date}/reopen`}>
              <p class="small">{text('day.reopenHelp')}</p>
              <Field label={text('day.reason')}>
                <input name="reason" required maxLength={500} />
              </Field>
              <Submit class="danger">{text('day.reopen')}</Submit>
            </ActionForm>
          </Disclosure>
        )}
        {ended.length > 0 && (
          <div>
            <h3>{text('day.seals')}</h3>
            <ul class="small">
              {ended.map((seal) => (
                <li key={seal.id}>
                  {text('day.signedBy', {
                    name: authorText(text, seal.signedOffBy),
                    at: formats.instant(seal.signedOffAt),
                  })}
                  ;{' '}
                  {text('day.sealEnded', {
                    name: authorText(text, seal.endedBy ?? ''),
                    at: seal.endedAt === null ? '' : formats.instant(seal.endedAt),
                  })}
                  {seal.endReason !== null && <span class="quiet"> ({seal.endReason})</span>}
                  <br />
                  <span class="quiet">
                    {text('day.sealedTitles', {
                      titles: seal.titles,
                      sum: formats.amount(seal.originalValueSum),
                    })}
                  </span>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Card>
  );
}
