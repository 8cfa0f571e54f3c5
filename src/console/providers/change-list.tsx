import type { AccountChange } from '../../accounts/account-changes.sql.ts';
import { Field } from '../shell/layout.tsx';
import { maskTaxId } from '../shell/masking.ts';
import { usePage } from '../shell/page-context.ts';
import { ActionForm, authorText, DayLink, Disclosure, Instant, Submit } from '../shell/parts.tsx';
import { mayUse } from '../shell/route-access.ts';
import { AccountText } from './account-text.tsx';
import { providerHref } from './provider-address.ts';

/** Account changes, each with the form to acknowledge it, or with the person who did. */
export function ChangeList(props: {
  readonly changes: readonly AccountChange[];
  readonly isRevealed: boolean;
}) {
  const { isRevealed } = props;
  const { text } = usePage();
  const { providers } = text;
  return (
    <ul class="timeline">
      {props.changes.map((change) => (
        <li key={change.id}>
          <div>
            <p class="anywhere">
              <strong>
                <PartyKey change={change} isRevealed={isRevealed} />
              </strong>
              {change.partyName !== null && (
                <>
                  <br />
                  {change.partyName}
                </>
              )}
            </p>
            <p class="quiet small">
              {providers.kinds[change.kind]}
              <br />
              <DayLink date={change.acceptedDate} /> ·{' '}
              <a href={`/titles/${change.titleId}`}>
                {providers.title_} {change.orderUid ?? change.titleId}
              </a>
            </p>
          </div>
          <div class="stack">
            <p>
              <del class="before">
                <span class="sr">{providers.before}: </span>
                <AccountText account={change.before} isRevealed={isRevealed} />
              </del>
              {' → '}
              <ins class="after">
                <span class="sr">{providers.after}: </span>
                <AccountText account={change.after} isRevealed={isRevealed} />
              </ins>
            </p>
            <p class="quiet small">
              {providers.detected} <Instant at={change.detectedAt} />
            </p>
            <Acknowledgement change={change} />
          </div>
        </li>
      ))}
    </ul>
  );
}

function PartyKey({ change, isRevealed }: { change: AccountChange; isRevealed: boolean }) {
  if (change.isKeyTaxId) return <>{isRevealed ? change.partyKey : maskTaxId(change.partyKey)}</>;
  return <a href={providerHref(change.partyKey)}>{change.partyKey}</a>;
}

function Acknowledgement({ change }: { change: AccountChange }) {
  const context = usePage();
  const { providers } = context.text;
  if (change.acknowledgedBy !== null && change.acknowledgedAt !== null) {
    return (
      <div>
        <p class="small">
          {providers.acknowledgedBy(
            authorText(context.text, change.acknowledgedBy),
            context.formats.instant(change.acknowledgedAt),
          )}
        </p>
        {change.reason !== null && <p class="quiet anywhere">{change.reason}</p>}
      </div>
    );
  }
  const role = context.principal?.role ?? 'viewer';
  if (!mayUse(role, 'POST', '/account-changes/:id/acknowledge')) {
    return <p class="small">{providers.notAcknowledged}</p>;
  }
  return (
    <Disclosure label={providers.acknowledge}>
      <ActionForm action={`/account-changes/${change.id}/acknowledge`}>
        <Field label={providers.finding}>
          <input name="reason" required maxLength={500} />
        </Field>
        <Submit class="primary">{providers.acknowledge}</Submit>
      </ActionForm>
    </Disclosure>
  );
}

/** The button that shows identifiers and accounts, for roles that may see them. */
export function RevealForm(props: {
  readonly action: string;
  readonly isRevealed: boolean;
  readonly mayReveal: boolean;
}) {
  const { title } = usePage().text;
  const mayAsk = !props.isRevealed && props.mayReveal;
  return (
    <div class="buttons">
      <p class="quiet">
        {props.isRevealed ? title.revealed : title.masked}
        {mayAsk && ` ${title.revealHelp}`}
      </p>
      {mayAsk && (
        <ActionForm action={props.action}>
          <Submit>{title.reveal}</Submit>
        </ActionForm>
      )}
    </div>
  );
}
