import type { ComponentChildren } from 'preact';
import { Type } from 'typebox';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { id, ledgerDate, words } from '../../../console/api/schema-parts.ts';
import { declareAction, declarePage, reason } from '../../../console/declare.tsx';
import { actorOf } from '../../../console/shell/guard.ts';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  Card,
  DayLink,
  Options,
  OwnSeal,
  type OwnSealProps,
} from '../../../console/shell/parts.tsx';
import { REVIEW } from '../../../console/shell/route-access.ts';
import { readOwnSeals } from '../../review/own-seal.sql.ts';
import {
  BREAK_CODES,
  type Break,
  type BreakFilter,
  type BreakPayable,
  type BreakTitle,
  readBreak,
  URGENCIES,
} from '../break-list.sql.ts';
import { BREAK_KINDS, type BreakKind, REOPENED } from '../breaks.sql.ts';
import { resolveBreak, resolveBreaks, WAITS } from '../match-decisions.sql.ts';

export const MAX_TEXT = 255;
const kind = words(BREAK_KINDS);
const code = words(BREAK_CODES);
const erpKey = Type.String({ maxLength: MAX_TEXT });
/** Of the break. The list of this date follows. */
const date = Type.Optional(ledgerDate);
const KEY = { kind, title: Type.Optional(id), payable: Type.Optional(erpKey) };

const keyOf = (input: { kind: BreakKind; title?: number; payable?: string }) => ({
  kind: input.kind,
  titleId: input.title === undefined ? null : BigInt(input.title),
  erpKey: input.payable ?? null,
});

const listOf = (input: { readonly date?: CivilDate }) =>
  input.date === undefined ? '/breaks' : `/breaks?date=${input.date}`;

export const BREAK = declarePage({
  path: '/break',
  active: '/breaks',
  input: KEY,
  read: async ({ database, fourEyes }, input, request) => {
    const { prisma } = database;
    if (input.title === undefined && input.payable === undefined) return null;
    const found = await readBreak(prisma, keyOf(input));
    const title = found?.title ?? null;
    const dates = [title?.acceptedDate ?? null];
    const own = fourEyes ? await readOwnSeals(prisma, dates, actorOf(request), WAITS) : [];
    return { found, ownSeal: own[0] ?? null };
  },
  title: ({ text }, _, { kind }) => text(`matching.kinds.${kind}`),
  answer: ({ found }) => (found === null ? { status: 404 } : {}),
  body: ({ found, ...others }, { kind }) =>
    found === null ? <NoBreak kind={kind} /> : <BreakBody found={found} {...others} />,
});

const RESOLVE_BREAK = declareAction({
  path: '/break/resolve',
  who: REVIEW,
  input: { ...KEY, date, ground: Type.String(), code, reason },
  deed: ({ database, fourEyes }, { ground, code, reason, ...key }, by) =>
    resolveBreak(database, { ...keyOf(key), seenGround: ground }, { by, code, reason, fourEyes }),
  next: listOf,
  notice: 'break_resolved',
});

/** The breaks of a list, as the person saw them. */
const LIST = {
  kind,
  urgency: Type.Optional(words(URGENCIES)),
  ...{ date, supplier: Type.Optional(erpKey), digest: Type.String() },
};
type SeenList = Pick<BreakFilter, 'kind'> &
  Partial<Omit<BreakFilter, 'state'>> & { readonly digest: string };

const filterOf = ({ kind, urgency = null, date = null, supplier = null, digest }: SeenList) => ({
  ...{ kind, urgency, date, supplier, seenDigest: digest },
});

export const RESOLVE_BREAKS = declareAction({
  path: '/breaks/resolve',
  who: REVIEW,
  input: { ...LIST, code, reason },
  deed: ({ database, fourEyes }, input, by) =>
    resolveBreaks(database, filterOf(input), {
      by,
      code: input.code,
      reason: input.reason,
      fourEyes,
    }),
  next: listOf,
  notice: 'break_resolved',
});

/** Needs no second person: an open break releases nothing. */
export const REOPEN_BREAKS = declareAction({
  path: '/breaks/reopen',
  who: REVIEW,
  input: { ...LIST, reason },
  deed: ({ database }, input, by) => {
    const filter = { ...filterOf(input), state: 'resolved' } as const;
    return resolveBreaks(database, filter, { by, code: REOPENED, reason: input.reason });
  },
  next: listOf,
  notice: 'break_resolved',
});

export const BREAK_ACTIONS = [RESOLVE_BREAK, RESOLVE_BREAKS, REOPEN_BREAKS];

interface BreakPageProps {
  readonly found: Break;
  /** What keeps this person from a decision; null: nothing. */
  readonly ownSeal: OwnSealProps | null;
}

/** Both sides of a break, and what a person can decide. */
function BreakBody(props: BreakPageProps) {
  const { found, ownSeal } = props;
  const page = usePage();
  const { text } = page;
  const { kind, ground, title, payable } = found;
  const isReviewer = RESOLVE_BREAK.isOffered(page);
  const mayDecide = isReviewer && ownSeal === null;
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
      {mayDecide && (
        <ResolveCard title={text('matching.resolve')}>
          <RESOLVE_BREAK.Form
            values={{
              ...{ kind, ground, title: title?.id, date: title?.acceptedDate },
              payable: payable?.erpKey,
            }}
            button={text('matching.resolve')}
            look="primary"
          >
            <CodeField />
          </RESOLVE_BREAK.Form>
        </ResolveCard>
      )}
    </>
  );
}

function NoBreak({ kind }: { readonly kind: BreakKind }) {
  const { text } = usePage();
  return (
    <section class="card stack">
      <h1>{text(`matching.kinds.${kind}`)}</h1>
      <p>{text('matching.gone')}</p>
      <p>
        <a href="/breaks">← {text('lists.breaks.title')}</a>
      </p>
    </section>
  );
}

/** Whether both sides state a value, and not the same one. */
const differs = (one: string | null | undefined, other: string | null | undefined) =>
  one != null && other != null && one !== other;

function Compared(props: { readonly value: string; readonly isDifferent: boolean }) {
  return props.isDifferent ? <mark>{props.value}</mark> : <span>{props.value}</span>;
}

function TitleSide(props: {
  readonly title: BreakTitle | null;
  readonly payable: BreakPayable | null;
}) {
  const { title, payable } = props;
  const { text, formats } = usePage();
  if (title === null) return <p class="quiet">{text('matching.noTitle')}</p>;
  return (
    <dl class="fields">
      <dt>{text('matching.order')}</dt>
      <dd class="anywhere">
        <a href={`/titles/${title.id}`}>{title.orderUid}</a>
      </dd>
      <dt>{text('matching.date')}</dt>
      <dd>
        <DayLink date={title.acceptedDate} />
      </dd>
      <dt>{text('matching.dueDate')}</dt>
      <dd>
        <Compared
          value={title.dueDate === null ? '–' : formats.date(title.dueDate)}
          isDifferent={differs(title.dueDate, payable?.dueDate)}
        />
      </dd>
      <dt>{text('amounts.original_value')}</dt>
      <dd>
        <Compared
          value={formats.amount(title.value)}
          isDifferent={
            payable !== null && formats.amount(title.value) !== formats.amount(payable.openValue)
          }
        />
      </dd>
      <dt>{text('matching.supplier')}</dt>
      <dd>{title.supplier ?? '–'}</dd>
      <dt>{text('matching.status')}</dt>
      <dd>{text(title.isWithdrawn ? 'title.status.withdrawn' : 'title.status.current')}</dd>
    </dl>
  );
}

/** The fields of a payable. */
export function PayableSide(props: {
  readonly payable: BreakPayable | null;
  /** Absent: nothing is marked as different. */
  readonly title?: BreakTitle | null;
}) {
  const { payable, title = null } = props;
  const { text, formats } = usePage();
  if (payable === null) return <p class="quiet">{text('matching.noPayable')}</p>;
  const value = formats.amount(payable.openValue);
  const rows: readonly (readonly [string, string | null, boolean?])[] = [
    [text('matching.key'), payable.erpKey],
    [text('matching.company'), payable.company],
    [text('matching.document'), payable.document],
    [text('matching.instalment'), payable.instalment],
    [text('matching.order'), payable.orderUid],
    [
      text('matching.dueDate'),
      payable.dueDate === null ? null : formats.date(payable.dueDate),
      differs(payable.dueDate, title?.dueDate),
    ],
    [text('matching.openValue'), value, title !== null && formats.amount(title.value) !== value],
    [text('matching.supplier'), payable.supplier],
    [text('matching.status'), text.find(`matching.statuses.${payable.status}`) ?? payable.status],
    ...(payable.payee === null
      ? []
      : [[text('matching.payee'), text(`matching.payees.${payable.payee}`)] as const]),
  ];
  return (
    <dl class="fields">
      {rows.map(([name, shown, isDifferent = false]) => [
        <dt key={name}>{name}</dt>,
        <dd key={`${name} value`} class="anywhere">
          <Compared value={shown ?? '–'} isDifferent={isDifferent} />
        </dd>,
      ])}
    </dl>
  );
}

export function ResolveCard(props: {
  readonly title: string;
  /** Absent: what it means that the break is resolved. */
  readonly help?: string;
  readonly children: ComponentChildren;
}) {
  const { text } = usePage();
  return (
    <Card title={props.title}>
      <p class="quiet">{props.help ?? text('matching.resolveHelp')}</p>
      {props.children}
    </Card>
  );
}

/** The code of a decision about breaks. */
export function CodeField() {
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
