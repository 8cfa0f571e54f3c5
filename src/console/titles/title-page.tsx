import { toCivilDate } from '../../domain/business-day.ts';
import type { TitleColumn } from '../../domain/title.ts';
import { Moves } from '../days/moved.tsx';
import { isSensitive, maskColumn } from '../shell/masking.ts';
import type { PageContext } from '../shell/page-context.ts';
import { ActionForm, Card, DayLink, Instant } from '../shell/parts.tsx';
import { mayUse } from '../shell/route-access.ts';
import type { ChangingPull, TitleDetail } from './title-detail.sql.ts';

const GROUPS = {
  obligation: [
    'order_uid',
    'accepted_date',
    'anticipated_due_date',
    'buyer_identification',
    'platform_commission',
  ],
  amounts: [
    'original_value',
    'platform_discounted_value',
    'financial_discounted_value',
    'buyer_discounted_value',
    'billing_fee',
    'money_transfer_fee',
  ],
  provider: [
    'provider_external_id',
    'provider_identification',
    'provider_bank',
    'provider_agency',
    'provider_agency_digit',
    'provider_account',
    'provider_account_digit',
  ],
  agent: [
    'financial_agent_name',
    'financial_agent_type',
    'financial_agent_identification',
    'buyer_is_financial',
  ],
  payment: [
    'payment_type',
    'payment_bank',
    'payment_agency',
    'payment_agency_digit',
    'payment_account',
    'payment_account_digit',
  ],
  other: ['extra'],
} as const satisfies Readonly<Record<string, readonly TitleColumn[]>>;

export function TitlePageBody(props: {
  readonly context: PageContext;
  readonly title: TitleDetail;
  readonly isRevealed: boolean;
}) {
  const { context, title, isRevealed } = props;
  const { text, formats } = context;
  const role = context.principal?.role ?? 'viewer';
  const groups = Object.keys(GROUPS) as (keyof typeof GROUPS)[];
  return (
    <>
      <nav class="crumbs" aria-label={text.nav.days}>
        <a href={`/days/${title.acceptedDate}/titles`}>← {formats.date(title.acceptedDate)}</a>
      </nav>
      <div class="day-head">
        <h1>{text.title.title(title.fields.order_uid ?? '')}</h1>
        {title.occurrence > 1 && (
          <span class="tag">{text.title.copy(formats.count(title.occurrence))}</span>
        )}
        <span class={`tag ${title.status === 'withdrawn' ? 'is-withdrawn' : 'is-inserted'}`}>
          {text.title.status[title.status]}
        </span>
      </div>
      <div class="buttons">
        {isRevealed ? (
          <p class="quiet">{text.title.revealed}</p>
        ) : (
          <>
            <p class="quiet">{text.title.masked}</p>
            {mayUse(role, 'POST', '/titles/:id') && (
              <ActionForm context={context} action={`/titles/${title.id}`}>
                <button type="submit" class="button" title={text.title.revealHelp}>
                  {text.title.reveal}
                </button>
              </ActionForm>
            )}
          </>
        )}
      </div>
      <div class="columns">
        {groups
          .filter((group) => group !== 'other' || title.fields.extra !== null)
          .map((group) => (
            <Card key={group} title={text.title[group]}>
              <dl class="fields">
                {GROUPS[group].map((column) => (
                  <FieldRow key={column} {...props} column={column} />
                ))}
              </dl>
            </Card>
          ))}
      </div>
      <Card title={text.title.history}>
        <ol class="timeline">
          {title.revisions.map((revision) => (
            <li key={revision.revision}>
              <div>
                <p>
                  <Instant context={context} at={revision.changedAt} />
                </p>
                <p class="quiet small">
                  <PullText context={context} pull={revision} />
                </p>
              </div>
              <div>
                <p>
                  <span class={`tag is-${revision.kind}`}>{text.day.kinds[revision.kind]}</span>
                </p>
                <Moves context={context} fields={revision.fields} isRevealed={isRevealed} />
              </div>
            </li>
          ))}
          <li>
            <div>
              <p>
                <Instant context={context} at={title.createdAt} />
              </p>
              <p class="quiet small">
                <PullText context={context} pull={title.first} />
              </p>
            </div>
            <div>
              <p>
                <span class="tag is-inserted">{text.title.first}</span>
              </p>
              <p class="quiet">{text.title.firstSeen}</p>
            </div>
          </li>
        </ol>
      </Card>
    </>
  );
}

function FieldRow(props: {
  readonly context: PageContext;
  readonly title: TitleDetail;
  readonly isRevealed: boolean;
  readonly column: TitleColumn;
}) {
  const { context, column, isRevealed } = props;
  const { text, formats } = context;
  const value = props.title.fields[column];
  const shown = isRevealed ? value : maskColumn(column, value);
  const isAmount = (GROUPS.amounts as readonly string[]).includes(column);
  return (
    <>
      <dt>{text.title.fields[column]}</dt>
      <dd class={column === 'extra' || isSensitive(column) ? 'number' : undefined}>
        {shown === null ? (
          <span class="quiet">{text.day.notStated}</span>
        ) : isAmount ? (
          formats.amount(shown)
        ) : column === 'accepted_date' ? (
          <DayLink context={context} date={props.title.acceptedDate} />
        ) : column === 'anticipated_due_date' ? (
          formats.date(toCivilDate(shown))
        ) : column === 'buyer_is_financial' ? (
          text.title[shown === 'true' ? 'yes' : 'no']
        ) : shown === '' ? (
          <span class="quiet">{text.title.empty}</span>
        ) : (
          shown
        )}
      </dd>
    </>
  );
}

function PullText({ context, pull }: { context: PageContext; pull: ChangingPull }) {
  const { text } = context;
  return (
    <>
      {text.title.pull(String(pull.pullId), text.day.origins[pull.origin])}
      <br />
      {pull.requestedBy}
    </>
  );
}
