/** Small components that the pages share. */
import type { ComponentChildren } from 'preact';
import type { Text } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { maySeePersonalData } from '../../base/values/role.ts';
import type { DayState } from '../../core/ledger/states.ts';
import { usePage } from './page-context.ts';

/** The displayed states of a day of the ledger, which combine the state and the sign-off. */
export const DAY_LOOKS = [
  'signed',
  'reconciled',
  'restated',
  'attention',
  'held',
  'failed',
  'pending',
] as const;
/** `absent`: the ledger does not have the date. */
export type DayLook = (typeof DAY_LOOKS)[number] | 'absent';

/** Returns the displayed state of a day; `absent` for a date that the ledger does not have. */
export function lookOf(
  day:
    | {
        readonly state: DayState;
        readonly isRestated: boolean;
        readonly signedOffAt: Date | string | null;
      }
    | null
    | undefined,
): DayLook {
  if (day === null || day === undefined) return 'absent';
  if (day.isRestated && day.state === 'reconciled') return 'restated';
  if (day.state === 'reconciled' && day.signedOffAt !== null) return 'signed';
  return day.state;
}

/** Each state has its own shape, which the style sheet has. */
export const StateIcon = ({ look }: { readonly look: DayLook }) => (
  <span class={`icon icon-${look}`} aria-hidden="true" />
);

export function StateBadge(props: { readonly look: DayLook }) {
  const { text } = usePage();
  return (
    <span class={`badge is-${props.look}`}>
      <StateIcon look={props.look} />
      {text(`states.${props.look}`)}
    </span>
  );
}

/** The author of an action: a person, a key, an account at the command line, or a part of the program. */
export function authorText(text: Text, name: string): string {
  const [, id, owner = null, purpose = ''] =
    /^key (\d+)(?: of (\S+))?: ([\s\S]*)$/.exec(name) ?? [];
  if (id !== undefined) {
    return owner === null
      ? text('frame.keyAuthor', { id, purpose })
      : text('frame.keyAuthorOf', { id, owner, purpose });
  }
  const [, part = name, account = ''] = /^(command line)(: [\s\S]+)$/.exec(name) ?? [];
  const known = text.find(`actors.${part}`);
  return known === null ? name : `${known}${account}`;
}

/** A value of the platform, with a word for it where there is one. */
export function PlatformValue(props: { readonly value: string }) {
  const { text } = usePage();
  const word = text.find(`values.${props.value}`);
  return (
    <>
      {props.value}
      {word !== null && <span class="quiet"> ({word})</span>}
    </>
  );
}

export function Instant({ at }: { readonly at: Date | null }) {
  const { formats } = usePage();
  return at === null ? (
    <span class="quiet">–</span>
  ) : (
    <time datetime={at.toISOString()}>{formats.instant(at)}</time>
  );
}

export function DayLink(props: { readonly date: CivilDate }) {
  const { formats } = usePage();
  return (
    <a class="date" href={`/days/${props.date}`}>
      {formats.date(props.date)}
    </a>
  );
}

/** A form that changes data, with the CSRF token. */
export function ActionForm(props: {
  readonly action: string;
  readonly class?: string;
  readonly id?: string;
  readonly isDownload?: boolean;
  readonly children: ComponentChildren;
}) {
  const { csrf } = usePage();
  return (
    <form
      method="post"
      action={props.action}
      class={props.class ?? 'action'}
      id={props.id}
      data-download={props.isDownload}
    >
      <input type="hidden" name="_csrf" value={csrf} />
      {props.children}
    </form>
  );
}

export function Submit(props: { readonly class?: string; readonly children: ComponentChildren }) {
  return (
    <button type="submit" class={props.class === undefined ? 'button' : `button ${props.class}`}>
      {props.children}
    </button>
  );
}

/** The button that shows identifiers and accounts, for roles that may see them. */
export function RevealForm(props: { readonly action: string; readonly isRevealed: boolean }) {
  const { text, principal } = usePage();
  const mayAsk = !props.isRevealed && maySeePersonalData(principal?.role ?? 'viewer');
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

/** The seal of a day that keeps a person from a decision about the day. */
export interface OwnSealProps {
  readonly date: CivilDate;
  /**
   * signed: the person signed the day off. administered: the person was an administrator then. program: the program did,
   * so the day is reopened first.
   */
  readonly cause: 'signed' | 'administered' | 'program';
  /** The names of the users who may decide. */
  readonly deciders: readonly string[];
}

/** Says in place of a form who may decide. */
export function OwnSeal({ date, cause, deciders }: OwnSealProps) {
  const { text, formats } = usePage();
  return (
    <p class="error">
      {text('faults.own_seal', { date: formats.date(date), cause })}{' '}
      {cause !== 'program' &&
        text('frame.deciders', { count: deciders.length, names: deciders.join(', ') })}
    </p>
  );
}

/** One button for each decision. Enter in a field of the form decides nothing: it would press the first, disabled one. */
export function DecisionButtons<Value extends string>(props: {
  readonly name: string;
  readonly values: readonly Value[];
  readonly text: (value: Value) => string;
}) {
  return (
    <div class="buttons">
      <button type="submit" disabled hidden />
      {props.values.map((value) => (
        <button key={value} type="submit" name={props.name} value={value} class="button">
          {props.text(value)}
        </button>
      ))}
    </div>
  );
}

export function Card(props: {
  readonly title: string;
  readonly id?: string;
  readonly aside?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section class={`card ${props.class ?? ''}`} {...(props.id !== undefined && { id: props.id })}>
      <header class="card-head">
        <h2>{props.title}</h2>
        {props.aside}
      </header>
      {props.children}
    </section>
  );
}

/** An important message above the content of a page. */
export function Banner(props: {
  readonly look: DayLook;
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <section class={`banner is-${props.look}`}>
      <StateIcon look={props.look} />
      <div>
        <h2>{props.title}</h2>
        {props.children}
      </div>
    </section>
  );
}

/** A button that opens a form. Works without a script. */
export function Disclosure(props: {
  readonly label: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <details class="disclosure">
      <summary class={`button ${props.class ?? ''}`}>{props.label}</summary>
      <div class="disclosed">{props.children}</div>
    </details>
  );
}

export function Fields(props: {
  readonly rows: readonly (readonly [label: string, value: ComponentChildren, look?: string])[];
}) {
  return (
    <dl class="fields">
      {props.rows.map(([label, value, look]) => (
        <>
          <dt>{label}</dt>
          <dd class={look}>{value}</dd>
        </>
      ))}
    </dl>
  );
}

export function Metric(props: {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly href?: string;
  readonly class?: string;
}) {
  return (
    <div class={`metric ${props.class ?? ''}`}>
      <dt>{props.label}</dt>
      <dd>{props.href === undefined ? props.value : <a href={props.href}>{props.value}</a>}</dd>
    </div>
  );
}
