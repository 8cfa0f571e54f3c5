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
import type { LedgerDay } from '../ledger-days.sql.ts';
import type { SignOff } from '../sign-off.sql.ts';
import { Remarks } from './remarks.tsx';
import type { Reservations } from './reservations.sql.ts';

export function DayActions(props: { readonly date: CivilDate; readonly day: LedgerDay | null }) {
  const context = usePage();
  const { date, day } = props;
  const { text } = context;
  const role = context.principal?.role ?? 'viewer';
  const pull = day === null ? text('day.pullFirst') : text('day.pull');
  return (
    <div class="buttons">
      {mayUse(role, 'POST', '/days/:date/pull') && (
        <ActionForm action={`/days/${date}/pull`} class="buttons">
          <Submit>{pull}</Submit>
          {day !== null && <span class="quiet small">{text('day.pullHelp')}</span>}
        </ActionForm>
      )}
      {day !== null && (
        <a class="button" href={`/exports?from=${date}&to=${date}`}>
          {text('day.exportDay')}
        </a>
      )}
    </div>
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
