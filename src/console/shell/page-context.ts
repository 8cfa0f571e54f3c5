import type { FastifyRequest } from 'fastify';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { LANGUAGES, type Language, type Text, textOf } from '../../base/texts/texts.ts';
import { type Assets, readAssets } from './assets.ts';
import { csrfTokenOf } from './csrf.ts';
import { type Formats, formatsOf } from './formats.ts';
import type { Principal } from './guard.ts';
import { languageOf } from './language.ts';

export const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

export const LANGUAGE_COOKIE = 'conciliation-language';
export const THEME_COOKIE = 'conciliation-theme';

/** The reader-specific data of a page. */
export interface PageContext {
  readonly text: Text;
  readonly language: Language;
  readonly theme: Theme;
  readonly formats: Formats;
  readonly principal: Principal | null;
  readonly csrf: string;
  /** The path and query of this page. */
  readonly url: string;
  /** A sentence about the last action; null: none. */
  readonly notice: string | null;
  readonly assets: Assets;
}

const CurrentPage = createContext<PageContext | null>(null);
export const PageProvider = CurrentPage.Provider;

/**
 * Returns the context of the page that a component belongs to.
 * @throws Error outside of `PageProvider`
 */
export function usePage(): PageContext {
  const context = useContext(CurrentPage);
  if (context === null) throw new Error('a component is rendered outside of a page');
  return context;
}

/** Returns the context of a page for the user, the language and the query of a request. */
export function pageContext(request: FastifyRequest, timeZone: string): PageContext {
  const language =
    LANGUAGES.find((known) => known === request.cookies[LANGUAGE_COOKIE]) ??
    languageOf(request.headers['accept-language']);
  const text = textOf(language);
  return {
    text,
    language,
    theme: THEMES.find((known) => known === request.cookies[THEME_COOKIE]) ?? 'auto',
    formats: formatsOf(language, timeZone),
    principal: request.principal,
    csrf: csrfTokenOf(request.visit),
    url: request.method === 'GET' ? request.url : '/',
    notice: noticeOf(request, text),
    assets: readAssets(),
  };
}

/** A request can select only one of the defined notices. */
function noticeOf(request: FastifyRequest, text: Text): string | null {
  const name = textParameter(request.query, 'notice');
  return name === null ? null : text.find(`notices.${name}`);
}

/** Returns a parameter of a query or a form; null when it is absent, empty or repeated. */
export function textParameter(source: unknown, name: string): string | null {
  if (typeof source !== 'object' || source === null || !Object.hasOwn(source, name)) return null;
  const value: unknown = Reflect.get(source, name);
  if (typeof value !== 'string') return null;
  return cleanText(value);
}

/** Returns every value of a parameter that may be repeated, without the empty ones. */
export function textParameters(source: unknown, name: string): string[] {
  if (typeof source !== 'object' || source === null || !Object.hasOwn(source, name)) return [];
  return [Reflect.get(source, name)].flat().flatMap((value: unknown) => {
    const text = typeof value === 'string' ? cleanText(value) : null;
    return text === null ? [] : [text];
  });
}

function cleanText(value: string): string | null {
  // PostgreSQL's text type cannot hold U+0000.
  const text = value.replaceAll('\u0000', '').trim();
  return text === '' ? null : text;
}
