import type { ComponentChildren } from 'preact';
import type { AccountChange, AccountDecision } from '../../accounts/account-changes.sql.ts';
import { Field } from '../shell/layout.tsx';
import { maskTaxId } from '../shell/masking.ts';
import { usePage } from '../shell/page-context.ts';
import { ActionForm, authorText, DayLink, Instant, Submit } from '../shell/parts.tsx';
import { AccountText } from './account-text.tsx';
import { providerHref } from './provider-address.ts';

/** Account changes, grouped by party, with the titles and the money that they hold. */
export function ChangeList(props: {
  readonly changes: readonly AccountChange[];
  readonly isRevealed: boolean;
  /** Whether each party has a box to choose it for the decision of the form around the list. */
  readonly isForm?: boolean;
}) {
  const { isRevealed, isForm = false } = props;
  const { text, formats } = usePage();
  const { providers } = text;
  return (
    <ul class="timeline">
      {byParty(props.changes).map((changes) => (
        <li key={changes[0].id}>
          <div>
            <p class="anywhere">
              <strong>
                <PartyKey change={changes[0]} isRevealed={isRevealed} />
              </strong>
              {changes[0].partyName !== null && (
                <>
                  <br />
                  {changes[0].partyName}
                </>
              )}
            </p>
            <p class="quiet small">{providers.kinds[changes[0].kind]}</p>
            {changes[0].partyHeldTitles > 0 && (
              <p class="small">
                {providers.held(
                  formats.count(changes[0].partyHeldTitles),
                  formats.amount(changes[0].partyHeldValue),
                )}
              </p>
            )}
            {isForm && (
              <label class="small">
                <input
                  type="checkbox"
                  name="changes"
                  value={changes.map(({ id }) => id).join(' ')}
                />{' '}
                {providers.choose}
              </label>
            )}
          </div>
          <div class="stack">
            {changes.map((change) => (
              <Change key={change.id} change={change} isRevealed={isRevealed} />
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}

type SomeChanges = [AccountChange, ...AccountChange[]];

/** In the order of the first change of each party. */
function byParty(changes: readonly AccountChange[]): SomeChanges[] {
  const groups = new Map<string, SomeChanges>();
  for (const change of changes) {
    const group = groups.get(`${change.kind} ${change.partyKey}`);
    if (group === undefined) groups.set(`${change.kind} ${change.partyKey}`, [change]);
    else group.push(change);
  }
  return [...groups.values()];
}

function Change({ change, isRevealed }: { change: AccountChange; isRevealed: boolean }) {
  const { providers } = usePage().text;
  return (
    <div>
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
        <DayLink date={change.acceptedDate} /> ·{' '}
        <a href={`/titles/${change.titleId}`}>
          {providers.title_} {change.orderUid ?? change.titleId}
        </a>{' '}
        · {providers.detected} <Instant at={change.detectedAt} />
      </p>
      <DecisionText change={change} />
    </div>
  );
}

function PartyKey({ change, isRevealed }: { change: AccountChange; isRevealed: boolean }) {
  if (change.isKeyTaxId) return <>{isRevealed ? change.partyKey : maskTaxId(change.partyKey)}</>;
  return <a href={providerHref(change.partyKey)}>{change.partyKey}</a>;
}

function DecisionText({ change }: { change: AccountChange }) {
  const { text, formats } = usePage();
  const { providers } = text;
  if (change.state === 'open' || change.decidedBy === null || change.decidedAt === null) {
    return <p class="small">{providers.undecided}</p>;
  }
  return (
    <div>
      <p class="small">
        {providers.decisions[change.state]}
        {change.state === 'returned'
          ? `, ${formats.instant(change.decidedAt)}`
          : `: ${authorText(text, change.decidedBy)}, ${formats.instant(change.decidedAt)}`}
      </p>
      {change.reason !== null && <p class="quiet anywhere">{change.reason}</p>}
    </div>
  );
}

/** The form around a list of changes, with one decision and one reason for the parties that are chosen. */
export function DecisionForm(props: {
  readonly decisions: readonly AccountDecision[];
  readonly children: ComponentChildren;
}) {
  const { providers } = usePage().text;
  return (
    <ActionForm action="/account-changes/decide" class="stack">
      {props.children}
      <fieldset>
        <legend>{providers.decision}</legend>
        {props.decisions.map((decision) => (
          <label key={decision}>
            <input type="radio" name="decision" value={decision} required />{' '}
            {providers.decide[decision]}
          </label>
        ))}
      </fieldset>
      <Field label={providers.finding}>
        <input name="reason" required maxLength={500} />
      </Field>
      <Submit class="primary">{providers.record}</Submit>
    </ActionForm>
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
