import type { Language } from '../../base/texts/texts.ts';

/**
 * Returns the first supported language of the browser's list: Portuguese of any country, otherwise English.
 */
export function languageOf(acceptLanguage: string | undefined): Language {
  const wanted = (acceptLanguage ?? '')
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(';');
      const weight = parameters.map((text) => /^\s*q=([\d.]+)$/.exec(text)?.[1]).find(Boolean);
      return { tag: tag.toLowerCase(), weight: weight === undefined ? 1 : Number(weight) };
    })
    .sort((a, b) => b.weight - a.weight);
  for (const { tag, weight } of wanted) {
    if (!(weight > 0)) continue;
    if (tag === 'pt' || tag.startsWith('pt-')) return 'pt-BR';
    if (tag === 'en' || tag.startsWith('en-')) return 'en';
  }
  return 'en';
}
