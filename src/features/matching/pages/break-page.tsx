import { type TProperties, Type } from 'typebox';
import type { TextKey } from '../../../base/texts/texts.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { MAX_KEY_CHARACTERS } from '../../../base/values/field-fault.ts';
import { id, ledgerDate, words } from '../../../console/api/schema-parts.ts';
import { type Action, declareAction, declarePage, reason } from '../../../console/declare.tsx';
import { parameterSchemas, readFilter } from '../../../console/list/filter.tsx';
import { actorOf } from '../../../console/shell/guard.ts';
import { Field } from '../../../console/shell/layout.tsx';
import { type PageContext, usePage } from '../../../console/shell/page-context.ts';
import {
  Card,
  DayLink,
  Fields,
  Options,
  OwnSeal,
  type OwnSealProps,
} from '../../../console/shell/parts.tsx';
import { REVIEW } from '../../../console/shell/route-access.ts';
import { readOwnSeals } from '../../review/own-seal.sql.ts';
import {
  BREAK_CODES,
  BREAK_FILTER,
  type BreakFilter,
  type BreakPayable,
  type BreakTitle,
  type ListedBreak,
  listBreaks,
} from '../break-list.sql.ts';
import { REOPENED } from '../breaks.sql.ts';
import { BREAK_KINDS } from '../judgement.sql.ts';
import { resolveBreaks, WAITS } from '../match-decisions.sql.ts';

const erpKey = Type.String({ maxLength: MAX_KEY_CHARACTERS });
/** The list of the date follows. */
export const DECISION = { date: Type.Optional(ledgerDate), code: words(BREAK_CODES), reason };
const KEY = { kind: words(BREAK_KINDS), title: Type.Optional(id), payable: Type.Optional(erpKey) };
/** The rows of a kind in a list of breaks, as the person has seen them. */
const LISTED = {
  ...{ ...parameterSchemas(BREAK_FILTER), date: DECISION.date, kind: KEY.kind },
  digest: Type.String(),
};

const listOf = (input: { readonly date?: CivilDate }) =>
  input.date === undefined ? '/breaks' : `/breaks?date=${input.date}`;

export const BREAK = declarePage({
  path: '/break',
  active: '/breaks',
  input: KEY,
  read: async ({ database, fourEyes }, input, request) => {
    const { prisma } = database;
    const { filter } = readFilter(BREAK_FILTER, input);
    if (filter.title === 0 && filter.payable === null) return null;
    const {
      breaks: [found],
      digest,
    } = await listBreaks(prisma, { ...filter, offset: 0, limit: 1 });
    if (found === undefined) return null;
    const dates = [found.title?.acceptedDate ?? null];
    const own = fourEyes ? await readOwnSeals(prisma, dates, actorOf(request), WAITS) : [];
    return { found, digest, ownSeal: own[0] ?? null };
  },
  title: ({ text }, _, { kind }) => text(`matching.kinds.${kind}`),
  body: (data) => <BreakBody {...data} />,
});

const listedBreaks = (state: BreakFilter['state'], input: { readonly digest: string }) => ({
  ...readFilter(BREAK_FILTER, input).filter,
  ...{ state, seenDigest: input.digest },
});

export const RESOLVE_BREAKS = declareAction({
  path: '/breaks/resolve',
  who: REVIEW,
  input: { ...LISTED, ...DECISION },
  deed: ({ database, fourEyes }, { code, reason, ...input }, by) =>
    resolveBreaks(database, listedBreaks('open', input), { by, code, reason, fourEyes }),
  next: listOf,
  notice: 'break_resolved',
});

/** Needs no second person: an open break releases nothing. */
export const REOPEN_BREAKS = declareAction({
  path: '/breaks/reopen',
  who: REVIEW,
  input: { ...LISTED, reason },
  deed: ({ database }, { reason, ...input }, by) =>
    resolveBreaks(database, listedBreaks('resolved', input), { by, code: REOPENED, reason }),
  next: listOf,
  notice: 'break_resolved',
});

export const BREAK_ACTIONS = [RESOLVE_BREAKS, REOPEN_BREAKS];

interface BreakPageProps {
  readonly found: ListedBreak;
  readonly digest: string;
  /** What keeps this person from a decision; null: nothing. */
  readonly ownSeal: OwnSealProps | null;
}

/** Both sides of a break, and what a person can decide. */
function BreakBody(props: BreakPageProps) {
  const { found, digest, ownSeal } = props;
  const page = usePage();
  const { text } = page;
  const { kind, title, payable } = found;
  const isReviewer = RESOLVE_BREAKS.isOffered(page);
  return (
    <>
      <div>
        <h1>{text(`matching.kinds.${kind}`)}</h1>
        <p>
          {text(`matching.help.${kind}`)} {text('matching.ageOf', { days: found.age })}{' '}
          {found.waits && text('matching.waitsHelp')}
        </p>
        {ownSeal !== null && isReviewer && <OwnSeal {...ownSeal} />}
        {!isReviewer && <p class="quiet">{text('matching.reviewersDecide')}</p>}
      </div>
      <div class="columns">
        <Card title={text('matching.onPlatform')}>
          <TitleSide title={title} payable={payable} />
        </Card>
        <Card title={text('matching.inErp')}>
          <PayableSide payable={payable} title={title} />
        </Card>
      </div>
      {title !== null && !title.isWithdrawn && (
        <p>
          <a href={`/proposals?title=${title.id}`}>{text('matching.toProposals')}</a>
        </p>
      )}
      {ownSeal === null && (
        <DecisionCard
          title={text('matching.resolve')}
          help={text('matching.resolveHelp')}
          action={RESOLVE_BREAKS}
          values={{
            ...{ kind, title: title?.id, payable: payable?.erpKey },
            ...{ digest, date: title?.acceptedDate },
          }}
          button={text('matching.resolve')}
        />
      )}
    </>
  );
}

/** Marked where both sides state a value, and not the same one. */
function Compared(props: { readonly value: string | null; readonly other: string | null }) {
  const { value, other } = props;
  const isDifferent = value !== null && other !== null && value !== other;
  return isDifferent ? <mark>{value}</mark> : <span>{value ?? '–'}</span>;
}

/** The due dates of the title and of the payable, once where they are equal. Null: neither is stated. */
export const duesOf = (
  dues: readonly (CivilDate | null | undefined)[],
  { formats }: Pick<PageContext, 'formats'>,
): string | null =>
  [...new Set(dues)].flatMap((due) => (due == null ? [] : formats.date(due))).join(' → ') || null;

function useSides(title: BreakTitle | null, payable: BreakPayable | null) {
  const { formats } = usePage();
  const dateOf = (side: { readonly dueDate: CivilDate | null } | null) =>
    side?.dueDate == null ? null : formats.date(side.dueDate);
  return {
    titleDue: dateOf(title),
    payableDue: dateOf(payable),
    titleValue: title && formats.amount(title.value),
    payableValue: payable && formats.amount(payable.openValue),
  };
}

interface SidesProps {
  readonly title: BreakTitle | null;
  readonly payable: BreakPayable | null;
}

function TitleSide({ title, payable }: SidesProps) {
  const { text } = usePage();
  const { titleDue, payableDue, titleValue, payableValue } = useSides(title, payable);
  if (title === null) return <p class="quiet">{text('matching.noTitle')}</p>;
  return (
    <Fields
      rows={[
        [text('matching.order'), <a href={`/titles/${title.id}`}>{title.orderUid}</a>, 'anywhere'],
        [text('matching.date'), <DayLink date={title.acceptedDate} />],
        [text('matching.dueDate'), <Compared value={titleDue} other={payableDue} />],
        [text('amounts.original_value'), <Compared value={titleValue} other={payableValue} />],
        [text('matching.supplier'), title.supplier ?? '–'],
        [
          text('matching.status'),
          text(title.isWithdrawn ? 'title.status.withdrawn' : 'title.status.current'),
        ],
      ]}
    />
  );
}

/** The fields of a payable. Without a title, nothing is marked as different. */
export function PayableSide({
  title = null,
  payable,
}: Partial<SidesProps> & Pick<SidesProps, 'payable'>) {
  const { text } = usePage();
  const { titleDue, payableDue, titleValue, payableValue } = useSides(title, payable);
  if (payable === null) return <p class="quiet">{text('matching.noPayable')}</p>;
  const row = (name: TextKey, value: string | null, other: string | null = null) =>
    [text(name), <Compared value={value} other={other} />, 'anywhere'] as const;
  const { payee, status } = payable;
  return (
    <Fields
      rows={[
        row('matching.key', payable.erpKey),
        row('matching.company', payable.company),
        row('matching.document', payable.document),
        row('matching.instalment', payable.instalment),
        row('matching.order', payable.orderUid),
        row('matching.dueDate', payableDue, titleDue),
        row('matching.openValue', payableValue, titleValue),
        row('matching.supplier', payable.supplier),
        row('matching.status', text.find(`matching.statuses.${status}`) ?? status),
        ...(payee === null ? [] : [row('matching.payee', text(`matching.payees.${payee}`))]),
      ]}
    />
  );
}

/** A decision about breaks, with its code and reason, for those who may make it. */
export function DecisionCard<Input extends TProperties>(props: {
  readonly title: string;
  readonly help: string;
  readonly action: Action<Input>;
  readonly values: NonNullable<Parameters<Action<Input>['Form']>[0]['values']>;
  readonly button: string;
  /** Of the form, for fields outside of it. */
  readonly id?: string;
}) {
  const { title, help, action, ...form } = props;
  return !action.isOffered(usePage()) ? null : (
    <Card title={title}>
      <p class="quiet">{help}</p>
      <action.Form {...form} look="primary">
        <CodeField />
      </action.Form>
    </Card>
  );
}

/** The code of a decision about breaks. */
function CodeField() {
  const { text } = usePage();
  return (
    <Field label={text('matching.code')}>
      <select name="code">
        <Options
          values={BREAK_CODES}
          chosen="corrected"
          text={(code) => text(`matching.codes.${code}`)}
        />
      </select>
    </Field>
  );
}
