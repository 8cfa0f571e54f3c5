import type { CivilDate } from '../../../base/values/business-day.ts';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { ActionForm, authorText, Card, Disclosure, Submit } from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import type { DayReject } from '../../../core/ledger/day-pulls.ts';
import { reasonsText } from './reason-text.ts';

/** The titles of a day that break the contract, with the possible actions. */
export function DayRejects(props: {
  readonly date: CivilDate;
  readonly rejects: readonly DayReject[];
  /** Whether the day is signed off in its present state. Its rejects then cannot be accepted. */
  readonly isSigned: boolean;
}) {
  const context = usePage();
  const { date, rejects } = props;
  const { text, formats } = context;
  const role = context.principal?.role ?? 'viewer';
  const hasOpen = rejects.some(({ status }) => status === 'open');
  const isRevealed = rejects.some(({ raw }) => raw !== null);
  return (
    <Card title={text('day.rejects')} id="rejects">
      <ul class="timeline">
        {rejects.map((reject) => (
          <li key={reject.id}>
            <div>
              <p>{text('day.rejectNumber', { number: formats.count(reject.ordinal + 1) })}</p>
              <p class="quiet small">
                {reject.status === 'open'
                  ? text('day.rejectOpen')
                  : text('day.rejectAccepted', { name: authorText(text, reject.decidedBy ?? '') })}
                {' · '}
                {text('day.rejectBytes', { bytes: formats.count(reject.rawBytes) })}
              </p>
            </div>
            <div>
              <ul>
                {reject.reasons.map((reason) => (
                  <li key={reason}>{reasonsText(text, reason)}</li>
                ))}
              </ul>
              {reject.reason !== null && <p class="quiet">{reject.reason}</p>}
              {reject.raw !== null && (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
                <pre class="raw mono" tabIndex={0}>
                  {reject.raw}
                </pre>
              )}
            </div>
          </li>
        ))}
      </ul>
      {hasOpen && props.isSigned && <p class="quiet small">{text('day.acceptSigned')}</p>}
      {mayUse(role, 'POST', '/days/:date/rejects') && (
        <div class="buttons">
          {!isRevealed && (
            <Disclosure label={text('day.showRaw')}>
              <ActionForm action={`/days/${date}/rejects`}>
                <p class="small">{text('day.showRawHelp')}</p>
                <Submit>{text('day.showRaw')}</Submit>
              </ActionForm>
            </Disclosure>
          )}
          {hasOpen && !props.isSigned && (
            <Disclosure label={text('day.accept')}>
              <ActionForm action={`/days/${date}/accept-rejects`}>
                <p class="small">{text('day.acceptHelp')}</p>
                <Field label={text('day.reason')}>
                  <input name="reason" required maxLength={500} />
                </Field>
                <Submit class="primary">{text('day.accept')}</Submit>
              </ActionForm>
            </Disclosure>
          )}
        </div>
      )}
    </Card>
  );
}
