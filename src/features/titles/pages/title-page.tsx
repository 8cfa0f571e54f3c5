import { Fragment } from 'preact';
import { toCivilDate } from '../../../base/values/business-day.ts';
import { type ChangedField, id } from '../../../console/api/schema-parts.ts';
import { declarePage } from '../../../console/declare.tsx';
import { actorOf } from '../../../console/shell/guard.ts';
import { isSensitive, maskColumn, maskPromoted } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  Author,
  Card,
  DayLink,
  Instant,
  type OwnSealProps,
  PlatformValue,
  RevealForm,
} from '../../../console/shell/parts.tsx';
import { mayUse, STAFF } from '../../../console/shell/route-access.ts';
import type { TitleColumn } from '../../../core/title/title.ts';
import { DueDate } from '../../calendar/pages/due-date.tsx';
import { type Finding, readTitleFindings } from '../../checks/findings.sql.ts';
import { TitleFindings } from '../../checks/pages/findings.tsx';
import { readOwnSealOfMatch } from '../../matching/match-decisions.sql.ts';
import { readTitleMatches, type TitleMatch } from '../../matching/match-reads.sql.ts';
import { TitleMatches } from '../../matching/pages/match-cards.tsx';
import { hasPayables } from '../../matching/payables/payable-state.sql.ts';
import { providerHref } from '../../providers/pages/provider-address.ts';
import { FieldChanges } from '../../review/pages/changed-titles.tsx';
import { type ChangingPull, readTitleDetail, type TitleDetail } from './title-detail.sql.ts';
import { TITLES } from './titles-page.tsx';

const GROUPS = ['obligation', 'amounts', 'provider', 'agent', 'payment', 'other'] as const;

const GROUP_OF: Readonly<Record<TitleColumn, (typeof GROUPS)[number]>> = {
  order_uid: 'obligation',
  accepted_date: 'obligation',
  anticipated_due_date: 'obligation',
  buyer_identification: 'obligation',
  platform_commission: 'obligation',
  original_value: 'amounts',
  platform_discounted_value: 'amounts',
  financial_discounted_value: 'amounts',
  buyer_discounted_value: 'amounts',
  billing_fee: 'amounts',
  money_transfer_fee: 'amounts',
  provider_external_id: 'provider',
  provider_identification: 'provider',
  provider_bank: 'provider',
  provider_agency: 'provider',
  provider_agency_digit: 'provider',
  provider_account: 'provider',
  provider_account_digit: 'provider',
  financial_agent_name: 'agent',
  financial_agent_type: 'agent',
  financial_agent_identification: 'agent',
  buyer_is_financial: 'agent',
  payment_type: 'payment',
  payment_bank: 'payment',
  payment_agency: 'payment',
  payment_agency_digit: 'payment',
  payment_account: 'payment',
  payment_account_digit: 'payment',
  extra: 'other',
};
const COLUMNS = Object.keys(GROUP_OF) as TitleColumn[];

export const TITLE = declarePage({
  path: '/titles/:id',
  active: '/titles',
  input: { id },
  read: async ({ database, fourEyes }, input, request) => {
    const { prisma } = database;
    const id = BigInt(input.id);
    const title = await readTitleDetail(database, id);
    if (title === null) return null;
    return {
      title,
      matches: (await hasPayables(prisma)) ? await readTitleMatches(database, id) : null,
      ownSeal: fourEyes ? await readOwnSealOfMatch(prisma, id, actorOf(request)) : null,
      findings: await readTitleFindings(database, id),
    };
  },
  title: ({ text }, { title }) => text('title.title', { order: title.fields.order_uid ?? '' }),
  body: (data, _, isRevealed) => <TitlePageBody {...data} isRevealed={isRevealed} />,
  reveal: {
    who: STAFF,
    entry: ({ title }) => ({
      ...{ action: 'title.reveal', date: title.acceptedDate, details: { titleId: title.id } },
    }),
  },
});

function TitlePageBody(props: {
  readonly title: TitleDetail;
  /** Null: the ERP has given no payables. */
  readonly matches: readonly TitleMatch[] | null;
  /** What keeps this person from undoing the match; null: nothing. */
  readonly ownSeal: OwnSealProps | null;
  readonly findings: readonly Finding[];
  readonly isRevealed: boolean;
}) {
  const context = usePage();
  const { title, matches, findings, isRevealed } = props;
  const { text, formats } = context;
  const role = context.principal?.role ?? 'viewer';
  const { anticipated_due_date: dueDate, original_value: originalValue } = title.fields;
  const own = { dueDate, originalValue };
  return (
    <>
      <nav class="crumbs" aria-label={text('nav.days')}>
        <a href={TITLES.href({ from: title.acceptedDate, to: title.acceptedDate })}>
          ← {formats.date(title.acceptedDate)}
        </a>
      </nav>
      <div class="day-head">
        <h1>{text('title.title', { order: title.fields.order_uid ?? '' })}</h1>
        {title.occurrence > 1 && (
          <span class="tag">{text('title.copy', { number: formats.count(title.occurrence) })}</span>
        )}
        <span class={`tag ${title.status === 'withdrawn' ? 'is-withdrawn' : 'is-inserted'}`}>
          {text(`title.status.${title.status}`)}
        </span>
        {title.isPaymentHeld && <span class="tag is-changed">{text('title.paymentHeld')}</span>}
      </div>
      {title.isPaymentHeld && (
        <p>
          {text('day.obstacles.payment_held')}{' '}
          <a href="/account-changes">{text('providers.changesOpen')}</a>
        </p>
      )}
      {title.predecessor !== null && (
        <div>
          <a href={`/titles/${title.predecessor.id}`}>{text('title.predecessor')}</a>
          <Replaced before={title.predecessor} after={own} />
        </div>
      )}
      {title.successor !== null && (
        <div>
          <a href={`/titles/${title.successor.id}`}>{text('title.successor')}</a>
          <Replaced before={own} after={title.successor} />
        </div>
      )}
      <RevealForm
        action={`/titles/${title.id}`}
        isRevealed={isRevealed}
        mayReveal={mayUse(role, 'POST', '/titles/:id')}
      />
      <div class="columns">
        {GROUPS.filter((group) => group !== 'other' || title.fields.extra !== null).map((group) => (
          <Card key={group} title={text(`title.groups.${group}`)}>
            <dl class="fields">
              {COLUMNS.filter((column) => GROUP_OF[column] === group).map((column) => (
                <FieldRow key={column} {...props} column={column} />
              ))}
            </dl>
          </Card>
        ))}
        {title.promoted.length > 0 && (
          <Card title={text('fields.title')}>
            <dl class="fields">
              {title.promoted
                .map((field) => (isRevealed ? field : maskPromoted(field)))
                .map(({ name, value }) => (
                  <Fragment key={name}>
                    <dt>{name}</dt>
                    <dd>
                      <PlatformValue value={value} />
                    </dd>
                  </Fragment>
                ))}
            </dl>
          </Card>
        )}
      </div>
      <TitleFindings findings={findings} />
      {matches !== null && (
        <TitleMatches date={title.acceptedDate} matches={matches} ownSeal={props.ownSeal} />
      )}
      <Card title={text('title.history')}>
        <ol class="timeline">
          {title.revisions.map((revision) => (
            <li key={revision.revision}>
              <div>
                <p>
                  <Instant at={revision.changedAt} />
                </p>
                <p class="quiet small">
                  <PullText pull={revision} />
                </p>
              </div>
              <div>
                <p>
                  <span class={`tag is-${revision.kind}`}>
                    {text(`day.kinds.${revision.kind}`)}
                  </span>
                </p>
                <FieldChanges fields={revision.fields} isRevealed={isRevealed} />
              </div>
            </li>
          ))}
          <li>
            <div>
              <p>
                <Instant at={title.createdAt} />
              </p>
              <p class="quiet small">
                <PullText pull={title.first} />
              </p>
            </div>
            <div>
              <p>
                <span class="tag is-inserted">{text('title.first')}</span>
              </p>
              <p class="quiet">{text('title.firstSeen')}</p>
            </div>
          </li>
        </ol>
      </Card>
    </>
  );
}

type Replacement = Readonly<Record<'dueDate' | 'originalValue', string | null>>;

/** The due date and the original value that differ between two titles. */
function Replaced(props: { readonly before: Replacement; readonly after: Replacement }) {
  const { before, after } = props;
  const fields = [
    { column: 'anticipated_due_date', before: before.dueDate, after: after.dueDate },
    { column: 'original_value', before: before.originalValue, after: after.originalValue },
  ];
  return <FieldChanges fields={fields.filter(isDifferent)} isRevealed />;
}

const isDifferent = ({ before, after }: ChangedField) => before !== after;

function FieldRow(props: {
  readonly title: TitleDetail;
  readonly isRevealed: boolean;
  readonly column: TitleColumn;
}) {
  const { column, isRevealed } = props;
  const { text, formats } = usePage();
  const value = props.title.fields[column];
  const shown = isRevealed ? value : maskColumn(column, value);
  return (
    <>
      <dt>{text(`title.fields.${column}`)}</dt>
      <dd class={column === 'extra' || isSensitive(column) ? 'number' : undefined}>
        {shown === null ? (
          <span class="quiet">{text('day.notStated')}</span>
        ) : GROUP_OF[column] === 'amounts' ? (
          formats.amount(shown)
        ) : column === 'platform_commission' && shown !== '' ? (
          formats.decimalText(shown)
        ) : column === 'accepted_date' ? (
          <DayLink date={props.title.acceptedDate} />
        ) : column === 'provider_external_id' && shown !== '' ? (
          <a href={providerHref(shown)}>{shown}</a>
        ) : column === 'anticipated_due_date' ? (
          <DueDate date={toCivilDate(shown)} businessDay={props.title.businessDay} />
        ) : column === 'buyer_is_financial' ? (
          text(shown === 'true' ? 'title.yes' : 'title.no')
        ) : shown === '' ? (
          <span class="quiet">{text('title.empty')}</span>
        ) : (
          <PlatformValue value={shown} />
        )}
      </dd>
    </>
  );
}

function PullText({ pull }: { pull: ChangingPull }) {
  const { text } = usePage();
  return (
    <>
      {text('title.pull', { id: String(pull.pullId), origin: text(`day.origins.${pull.origin}`) })}
      <br />
      <Author name={pull.requestedBy} />
    </>
  );
}
