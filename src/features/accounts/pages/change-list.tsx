import { maskTaxId } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { authorText, DayLink, Instant } from '../../../console/shell/parts.tsx';
import { providerHref } from '../../providers/pages/provider-address.ts';
import type { AccountChange } from '../account-changes.sql.ts';
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
