/** Small components that the pages share. */
import type { ComponentChildren, VNode } from 'preact';
import type { Text } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { DayState } from '../../core/ledger/day-state.ts';
import { usePage } from './page-context.ts';

/** The displayed state of a day, which combines the state and the sign-off. */
export type DayLook =
  | 'pending'
  | 'reconciled'
  | 'attention'
  | 'held'
  | 'failed'
  | 'signed'
  | 'restated'
  | 'absent';

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

/** Each state has its own shape, for readers who cannot distinguish the colours. */
const SHAPES: Readonly<Record<DayLook, VNode>> = {
  pending: <circle cx="8" cy="8" r="5.2" fill="none" stroke="currentColor" stroke-width="1.8" />,
  absent: <path d="M4 8h8" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" />,
  reconciled: (
    <path
      d="M3.2 8.6l3.2 3.2 6.4-7"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  ),
  signed: (
    <path
      fill-rule="evenodd"
      fill="currentColor"
      d="M8 1l5.6 2.2v4.2c0 3.6-2.3 6.2-5.6 7.6C4.700 13.600 2.400 11 2.400 7.400V3.200zM6.900 11.200l5-5.400-1.200-1.200-3.900 4.200-1.700-1.700-1.200 1.200z"
    />
  ),
  restated: (
    <path
      d="M12.800 6.200A5.200 5.200 0 1 0 13.200 9M13.400 2.800v3.600H9.800"
      fill="none"
      stroke="currentColor"
      stroke-width="1.9"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  ),
  attention: (
    <path
      fill-rule="evenodd"
      fill="currentColor"
      d="M8 1.300l7 12.700H1zM7.200 6v4h1.600V6zm0 5v1.600h1.600V11z"
    />
  ),
  held: (
    <path d="M5 3v10M11 3v10" stroke="currentColor" stroke-width="2.600" stroke-linecap="round" />
  ),
  failed: (
    <path
      d="M3.800 3.800l8.400 8.400M12.200 3.800l-8.400 8.400"
      stroke="currentColor"
      stroke-width="2.200"
      stroke-linecap="round"
    />
  ),
};

export function StateIcon({ look }: { readonly look: DayLook }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      {SHAPES[look]}
    </svg>
  );
}

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

export function Author({ name }: { readonly name: string }) {
  return <>{authorText(usePage().text, name)}</>;
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

export function DayLink(props: { readonly date: CivilDate | null }) {
  const { formats } = usePage();
  return props.date === null ? (
    <span class="quiet">–</span>
  ) : (
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

/** Says in place of a form that the person signed the day off, so that another person has to decide. */
export function OwnSeal({ date }: { readonly date: CivilDate }) {
  const { text, formats } = usePage();
  return <p class="error">{text('faults.own_seal', { date: formats.date(date) })}</p>;
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

export function Options<Value extends string>(props: {
  readonly values: readonly Value[];
  readonly chosen: string | null;
  readonly text: (value: Value) => string;
}) {
  return (
    <>
      {props.values.map((value) => (
        <option key={value} value={value} selected={value === props.chosen}>
          {props.text(value)}
        </option>
      ))}
    </>
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
