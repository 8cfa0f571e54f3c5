/**
 * Portuguese for the reasons that checks of titles and providers write in English, such as
 * `originalValue: expected a number, got a string`. Paths and figures stay as they are.
 */
const TYPES: Readonly<Record<string, string>> = {
  'a string': 'um texto',
  'a number': 'um número',
  'a boolean': 'um booleano',
  'an object': 'um objeto',
  'an array': 'uma lista',
  null: 'null',
  text: 'um texto',
  'a name': 'um nome',
};

const inPortuguese = (type: string) => TYPES[type] ?? type;

/** The first pattern that matches has the translation. */
const PATTERNS: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/^missing$/, () => 'ausente'],
  [
    /^expected a number of at most (\d+) digits$/,
    (digits = '') => `esperado um número de no máximo ${digits} dígitos`,
  ],
  [/^expected a calendar date as YYYY-MM-DD$/, () => 'esperada uma data no formato AAAA-MM-DD'],
  [/^expected text that is not (?:empty|blank)$/, () => 'esperado um texto não vazio'],
  [
    /^expected text without U\+0000 and lone surrogates$/,
    () => 'esperado um texto sem U+0000 e sem substitutos isolados',
  ],
  [
    /^expected at most (\d+) characters$/,
    (count = '') => `esperados no máximo ${count} caracteres`,
  ],
  [/^expected at most (\d+) items$/, (count = '') => `esperados no máximo ${count} itens`],
  [/^expected at most (\d+) bytes$/, (count = '') => `esperados no máximo ${count} bytes`],
  [
    /^expected at most (\d+) levels of nesting$/,
    (count = '') => `esperados no máximo ${count} níveis de aninhamento`,
  ],
  [
    /^expected one value, not the field twice$/,
    () => 'esperado um só valor, mas o campo veio duas vezes',
  ],
  [
    /^expected (.+) in valid UTF-8$/,
    (what = '') => `esperado ${inPortuguese(what)} em UTF-8 válido`,
  ],
  [/^expected (.+) without U\+0000$/, (what = '') => `esperado ${inPortuguese(what)} sem U+0000`],
  [
    /^expected (.+) without lone surrogates$/,
    (what = '') => `esperado ${inPortuguese(what)} sem substitutos isolados`,
  ],
  [/^expected at most one default account$/, () => 'esperada no máximo uma conta padrão'],
  [/^expected an e-mail address$/, () => 'esperado um endereço de e-mail'],
  [/^expected true or false$/, () => 'esperado verdadeiro ou falso'],
  [
    /^expected a CPF or CNPJ with the right check digits, and with its leading zeros$/,
    () => 'esperado um CPF ou CNPJ com os dígitos verificadores certos e com os zeros à esquerda',
  ],
  [
    /^another row has the same number under another externalId$/,
    () => 'outro cadastro tem o mesmo número com outro externalId',
  ],
  [/^not a field of the interface$/, () => 'não é um campo da interface'],
  [/^not as documented \((.+)\)$/, (keyword = '') => `diferente da documentação (${keyword})`],
  [
    /^(\d{4})-(\d\d)-(\d\d) is outside the requested window$/,
    (year = '', month = '', day = '') => `${day}/${month}/${year} está fora do intervalo pedido`,
  ],
  [
    /^the title is (\d+) bytes long, expected at most (\d+)$/,
    (bytes = '', most = '') => `o título tem ${bytes} bytes; esperados no máximo ${most}`,
  ],
  [
    /^expected (.+), got (.+)$/,
    (expected = '', got = '') =>
      `esperado ${inPortuguese(expected)}, recebido ${inPortuguese(got)}`,
  ],
  [/^expected (.+)$/, (expected = '') => `esperado ${inPortuguese(expected)}`],
];

/** Returns the reason in Portuguese. A reason that is not known stays as it is. */
function reasonInPortuguese(reason: string): string {
  const [, path = '', fault = ''] = /^([^\s:]+: )?([\s\S]*)$/.exec(reason) ?? [];
  for (const [pattern, translate] of PATTERNS) {
    const match = pattern.exec(fault);
    if (match !== null) return inPlace(path) + translate(...match.slice(1));
  }
  return reason;
}

/** Several reasons in one text, as `describeFaults` joins them. */
export function reasonsInPortuguese(reasons: string): string {
  return reasons.split('; ').map(reasonInPortuguese).join('; ');
}

function inPlace(path: string): string {
  return path
    .replace('(title)', '(título)')
    .replace('(provider)', '(fornecedor)')
    .replace('(row)', '(linha)');
}
