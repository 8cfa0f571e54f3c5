import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { LANGUAGES } from '../../texts/texts.ts';
import { type PageContext, PageProvider, THEMES, usePage } from './page-context.ts';
import { Options, Submit } from './parts.tsx';
import { mayUse } from './route-access.ts';

interface Badges {
  readonly alerts: number;
  readonly accountChanges: number;
  /** Whether the ERP has given payables. */
  readonly hasPayables: boolean;
}

export interface Page {
  readonly title: string;
  /** The active entry of the navigation; null: none. */
  readonly active: string | null;
  readonly body: VNode;
  /** The page is asked for again after so many seconds. Absent: it stays. */
  readonly refreshSeconds?: number;
  readonly badges?: Badges;
  /** Whether seals release bookings. */
  readonly hasBookings?: boolean;
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
  const { text, assets } = context;
  return (
    <html lang={context.language} data-theme={context.theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {page.refreshSeconds !== undefined && (
          <meta http-equiv="refresh" content={String(page.refreshSeconds)} />
        )}
        <title>{`${page.title} · ${text('frame.product')}`}</title>
        <link rel="icon" href={assets.icon} />
        <link rel="stylesheet" href={assets.css} />
        <script type="module" src={assets.js} />
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
              <Preferences />
              {context.principal !== null && <Account />}
            </div>
          </div>
        </header>
        <main id="content" tabIndex={-1}>
          {context.notice !== null && (
            <p class="notice" role="status">
              {context.notice}
            </p>
          )}
          {page.body}
        </main>
      </body>
    </html>
  );
}

function Navigation({ page }: { readonly page: Page }) {
  const context = usePage();
  const { text } = context;
  const role = context.principal?.role;
  const entries: readonly (readonly [string, string, number])[] = [
    ['/', text('nav.days'), 0],
    ['/titles', text('nav.titles'), 0],
    ['/schedule', text('nav.schedule'), 0],
    ...(page.badges?.hasPayables === true ? [['/breaks', text('nav.breaks'), 0] as const] : []),
    ...(page.hasBookings === true ? [['/bookings', text('nav.bookings'), 0] as const] : []),
    ['/backfills', text('nav.backfills'), 0],
    ['/providers', text('nav.providers'), page.badges?.accountChanges ?? 0],
    ['/alerts', text('nav.alerts'), page.badges?.alerts ?? 0],
    ['/exports', text('nav.exports'), 0],
    ['/audit', text('nav.audit'), 0],
  ];
  return (
    <nav class="nav" aria-label={text('nav.label')}>
      <ul>
        {entries.map(([href, label, open]) => (
          <li key={href}>
            <a href={href} {...(page.active === href && { 'aria-current': 'page' })}>
              {label}
              {open > 0 && (
                <span class="count">
                  {context.formats.count(open)}
                  <span class="sr"> {text('nav.openCount', { count: '' }).trim()}</span>
                </span>
              )}
            </a>
          </li>
        ))}
        {role !== undefined && mayUse(role, 'GET', '/users') && (
          <li>
            <a href="/users" {...(page.active === '/users' && { 'aria-current': 'page' })}>
              {text('nav.users')}
            </a>
          </li>
        )}
      </ul>
    </nav>
  );
}

function Preferences() {
  const context = usePage();
  const { text } = context;
  return (
    <details class="menu">
      <summary>
        {context.language === 'en' ? 'EN' : 'PT'} · {text('nav.settings')}
      </summary>
      <form method="post" action="/preferences" class="menu-body">
        <input type="hidden" name="_csrf" value={context.csrf} />
        <input type="hidden" name="next" value={context.url} />
        <Field label={text('nav.language')}>
          <select name="language">
            {LANGUAGES.map((language) => (
              <option key={language} value={language} selected={language === context.language}>
                {language === 'en' ? 'English' : 'Português (Brasil)'}
              </option>
            ))}
          </select>
        </Field>
        <Field label={text('nav.theme')}>
          <select name="theme">
            <Options
              values={THEMES}
              chosen={context.theme}
              text={(theme) => text(`nav.themes.${theme}`)}
            />
          </select>
        </Field>
        <Submit>{text('nav.apply')}</Submit>
      </form>
    </details>
  );
}

function Account() {
  const context = usePage();
  const { principal, text } = context;
  if (principal === null) return null;
  return (
    <details class="menu">
      <summary>{principal.name}</summary>
      <form method="post" action="/logout" class="menu-body">
        <input type="hidden" name="_csrf" value={context.csrf} />
        <p class="quiet">{text(`roles.${principal.role}`)}</p>
        {!principal.isEnrolmentDue && <a href="/account">{text('nav.account')}</a>}
        <Submit>{text('nav.signOut')}</Submit>
      </form>
    </details>
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
