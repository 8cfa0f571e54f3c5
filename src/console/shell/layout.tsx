import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { TSchema } from 'typebox';
import type { TextKey } from '../../base/texts/texts.ts';
import { ASSETS } from './assets.ts';
import { type PageContext, PageProvider, usePage } from './page-context.ts';
import { ActionForm, Submit } from './parts.tsx';
import { mayUse } from './route-access.ts';

export interface Page {
  readonly title: string;
  /** The page of the navigation that it belongs to; null: none. */
  readonly active: NavigationPath | null;
  readonly body: VNode;
  /** Why the action before the page was refused. Absent: none was. */
  readonly fault?: string;
  /** The page is asked for again after so many seconds, except while its reader fills in a form. Absent: it stays. */
  readonly refreshSeconds?: number;
}

/** Renders a complete document. The renderer escapes all text. */
export function renderPage(context: PageContext, page: Page): string {
  const document = (
    <PageProvider value={context}>
      <Document page={page} />
    </PageProvider>
  );
  return `<!doctype html>${renderToString(document)}`;
}

function Document({ page }: { readonly page: Page }) {
  const context = usePage();
  const { text } = context;
  return (
    <html lang={context.language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${page.title} · ${text('frame.product')}`}</title>
        <link rel="icon" href={ASSETS.icon.path} />
        <link rel="stylesheet" href={ASSETS.css.path} />
        <script type="module" src={ASSETS.js.path} />
      </head>
      <body>
        <a class="skip" href="#content">
          {text('frame.skip')}
        </a>
        <header class="top">
          <div class="top-row">
            <a class="brand" href="/">
              <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
                <rect width="32" height="32" rx="7" class="brand-tile" />
                <path d="M8.500 16.800l4.800 4.800L23.500 11" class="brand-mark" />
              </svg>
              {text('frame.product')}
            </a>
            {context.principal?.isEnrolmentDue === false && <Navigation page={page} />}
            <div class="top-end">
              {context.principal?.isEnrolmentDue === false && <Administration page={page} />}
              <OtherLanguage />
              {context.principal !== null && <Account />}
            </div>
          </div>
        </header>
        <main id="content" tabIndex={-1} data-refresh-seconds={page.refreshSeconds}>
          {context.notice !== null && (
            <p class="notice" role="status">
              {context.notice}
            </p>
          )}
          {page.fault !== undefined && (
            <p class="error" role="alert">
              {page.fault}
            </p>
          )}
          {context.principal?.isEnrolmentDue === false && <SectionPages page={page} />}
          {page.body}
        </main>
      </body>
    </html>
  );
}

/** The entries of the navigation, each with its pages. The entry leads to the first of them. */
const SECTIONS = {
  today: ['/'],
  closing: ['/sign-offs', '/months'],
  titles: ['/titles'],
  erp: ['/breaks', '/balance', '/disclosure', '/booking-lines'],
  payments: ['/schedule', '/account-changes', '/providers', '/holidays'],
} as const;
type Section = keyof typeof SECTIONS;

/** The pages behind the gear. */
const ADMINISTRATION = ['/alerts', '/audit', '/users', '/backfills', '/fields'] as const;

export type NavigationPath = (typeof SECTIONS)[Section][number] | (typeof ADMINISTRATION)[number];

function NavigationLink(props: {
  readonly to: NavigationPath;
  readonly isCurrent: boolean;
  /** Absent: that of the page. */
  readonly label?: string;
}) {
  const { to, isCurrent } = props;
  const { text } = usePage();
  return (
    <a href={to} {...(isCurrent && { 'aria-current': 'page' })}>
      {props.label ?? text(`nav.pages.${to}`)}
    </a>
  );
}

const SECTION_NAMES = Object.keys(SECTIONS) as Section[];
const pathsOf = (section: Section): readonly NavigationPath[] => SECTIONS[section];
const sectionOf = ({ active }: Page) =>
  SECTION_NAMES.find((section) => pathsOf(section).some((path) => path === active));

function Navigation({ page }: { readonly page: Page }) {
  const { text } = usePage();
  return (
    <nav class="nav" aria-label={text('nav.label')}>
      <ul>
        {SECTION_NAMES.map((section) => (
          <li key={section}>
            <NavigationLink
              to={SECTIONS[section][0]}
              label={text(`nav.sections.${section}`)}
              isCurrent={section === sectionOf(page)}
            />
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The pages of the active entry, unless it has one. */
function SectionPages({ page }: { readonly page: Page }) {
  const { text } = usePage();
  const section = sectionOf(page);
  if (section === undefined || SECTIONS[section].length === 1) return null;
  return (
    <nav class="tabs" aria-label={text(`nav.sections.${section}`)}>
      {pathsOf(section).map((path) => (
        <NavigationLink key={path} to={path} isCurrent={path === page.active} />
      ))}
    </nav>
  );
}

function Administration({ page: { active } }: { readonly page: Page }) {
  const { text, principal } = usePage();
  return (
    <details class="menu">
      <summary title={text('nav.administration')}>
        <span aria-hidden="true">⚙</span>
        <span class="sr">{text('nav.administration')}</span>
      </summary>
      <nav class="menu-body" aria-label={text('nav.administration')}>
        {ADMINISTRATION.filter((path) => mayUse(principal?.role ?? 'viewer', 'GET', path)).map(
          (path) => (
            <NavigationLink key={path} to={path} isCurrent={path === active} />
          ),
        )}
      </nav>
    </details>
  );
}

/** The button for the other language. */
function OtherLanguage() {
  const { language, url } = usePage();
  const other = language === 'en' ? 'pt-BR' : 'en';
  return (
    <ActionForm action="/preferences" class="menu">
      <input type="hidden" name="next" value={url} />
      <button type="submit" name="language" value={other} lang={other}>
        {other === 'en' ? 'English' : 'Português'}
      </button>
    </ActionForm>
  );
}

function Account() {
  const { principal, text } = usePage();
  if (principal === null) return null;
  return (
    <details class="menu">
      <summary>{principal.name}</summary>
      <ActionForm action="/logout" class="menu-body">
        <p class="quiet">{text(`roles.${principal.role}`)}</p>
        {!principal.isEnrolmentDue && <a href="/account">{text('nav.account')}</a>}
        <Submit>{text('nav.signOut')}</Submit>
      </ActionForm>
    </details>
  );
}

/** What a field says beside the schema of its input. */
export interface FieldLook {
  readonly label: TextKey;
  readonly help?: TextKey;
  /** The texts of a choice, and the key of each one's label. */
  readonly choices?: readonly (readonly [string, TextKey])[] | undefined;
  /** Attributes of the element. */
  readonly html?: Readonly<Record<string, string | number | boolean>>;
}

/** A field for the input of a schema. */
export function FormField(
  props: FieldLook & { readonly name: string; readonly schema?: TSchema; readonly value?: unknown },
) {
  const { name, label, help, choices, html } = props;
  const { text } = usePage();
  const schema: Readonly<Record<string, string | number | undefined>> = { ...props.schema };
  const { type, format, maxLength, minimum: min, maximum: max } = schema;
  const value = String(props.value ?? '');
  const stated: object = { type: type === 'integer' ? 'number' : format, maxLength, min, max };
  return (
    <>
      <Field label={text(label)}>
        {choices === undefined ? (
          <input name={name} value={value} {...stated} {...html} />
        ) : (
          <select name={name}>
            {choices.map(([word, key]) => (
              <option key={word} value={word} selected={word === value}>
                {text(key)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {help !== undefined && <p class="quiet small">{text(help)}</p>}
    </>
  );
}

export function Field(props: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label class="field">
      <span>{props.label}</span>
      {props.children}
    </label>
  );
}
