import type { ComponentChildren } from 'preact';
import { Field } from '../../../console/shell/layout.tsx';
import { maskTaxId } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  ActionForm,
  authorText,
  DayLink,
  DecisionButtons,
  Instant,
  Submit,
} from '../../../console/shell/parts.tsx';
import { providerHref } from '../../providers/pages/provider-address.ts';
import type { AccountChange, AccountDecision } from '../account-changes.sql.ts';
import { AccountText } from './account-text.tsx';

/** Account changes, grouped by party, with the titles and the money that they hold. */
export function ChangeList(props: {
  readonly changes: readonly AccountChange[];
  readonly isRevealed: boolean;
  /** Whether each account of a party has a box to choose it for the decision of the form around the list. */
  readonly isForm?: boolean;
}) {
  const { isRevealed, isForm = false } = props;
  const { text, formats } = usePage();
  return (
    <ul class="timeline">
      {grouped(props.changes, ({ kind, partyKey }) => `${kind} ${partyKey}`).map((changes) => (
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
            <p class="quiet small">{text(`providers.kinds.${changes[0].kind}`)}</p>
            {changes[0].partyHeldTitles > 0 && (
              <p class="small">
                {text('providers.held', {
                  titles: changes[0].partyHeldTitles,
                  value: formats.amount(changes[0].partyHeldValue),
                })}
              </p>
            )}
          </div>
          <div class="stack">
            {grouped(changes, ({ after, state }) => JSON.stringify([after, state])).map(
              (ofAccount) => (
                <div key={ofAccount[0].id} class="stack">
                  {ofAccount.map((change) => (
                    <Change key={change.id} change={change} isRevealed={isRevealed} />
                  ))}
                  {isForm && ofAccount[0].state !== 'returned' && (
                    <label class="small">
                      <input
                        type="checkbox"
                        name="changes"
                        value={ofAccount.map(({ id }) => id).join(' ')}
                      />{' '}
                      {text('providers.choose')}
                    </label>
                  )}
                </div>
              ),
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

type SomeChanges = [AccountChange, ...AccountChange[]];

/** The changes with one key, in the order of the first change of each key. */
function grouped(
  changes: readonly AccountChange[],
  keyOf: (change: AccountChange) => string,
): SomeChanges[] {
  const groups = new Map<string, SomeChanges>();
  for (const change of changes) {
    const key = keyOf(change);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [change]);
    else group.push(change);
  }
  return [...groups.values()];
}

function Change({ change, isRevealed }: { change: AccountChange; isRevealed: boolean }) {
  const { text } = usePage();
  return (
    <div>
      <p>
        <del class="before">
          <span class="sr">{text('providers.before')}: </span>
          <AccountText account={change.before} isRevealed={isRevealed} />
        </del>
        {' → '}
        <ins class="after">
          <span class="sr">{text('providers.after')}: </span>
          <AccountText account={change.after} isRevealed={isRevealed} />
        </ins>
      </p>
      <p class="quiet small">
        <DayLink date={change.acceptedDate} /> ·{' '}
        <a href={`/titles/${change.titleId}`}>
          {text('providers.title_')} {change.orderUid ?? change.titleId}
        </a>{' '}
        · {text('providers.detected')} <Instant at={change.detectedAt} />
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
  if (change.state === 'open' || change.decidedBy === null || change.decidedAt === null) {
    return <p class="small">{text('providers.undecided')}</p>;
  }
  return (
    <div>
      <p class="small">
        {text(`providers.decisions.${change.state}`)}
        {change.state === 'returned'
          ? `, ${formats.instant(change.decidedAt)}`
          : `: ${authorText(text, change.decidedBy)}, ${formats.instant(change.decidedAt)}`}
      </p>
      {change.reason !== null && <p class="quiet anywhere">{change.reason}</p>}
    </div>
  );
}

/** The form around a list of changes: one reason, and one button for each decision about the parties that are chosen. */
export function DecisionForm(props: {
  readonly decisions: readonly AccountDecision[];
  readonly children: ComponentChildren;
}) {
  const { text } = usePage();
  return (
    <ActionForm action="/account-changes/decide" class="stack">
      {props.children}
      <Field label={text('providers.finding')}>
        <input name="reason" required maxLength={500} />
      </Field>
      <DecisionButtons
        name="decision"
        values={props.decisions}
        text={(decision) => text(`providers.decide.${decision}`)}
      />
    </ActionForm>
  );
}

/** The button that shows identifiers and accounts, for roles that may see them. */
export function RevealForm(props: {
  readonly action: string;
  readonly isRevealed: boolean;
  readonly mayReveal: boolean;
}) {
  const { text } = usePage();
  const mayAsk = !props.isRevealed && props.mayReveal;
  return (
    <div class="buttons">
      <p class="quiet">
        {props.isRevealed ? text('title.revealed') : text('title.masked')}
        {mayAsk && ` ${text('title.revealHelp')}`}
      </p>
      {mayAsk && (
        <ActionForm action={props.action}>
          <Submit>{text('title.reveal')}</Submit>
        </ActionForm>
      )}
    </div>
  );
}
