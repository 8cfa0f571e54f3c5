import type { CivilDate } from '../../src/base/values/business-day.ts';
import {
  AFTER,
  breaksContract,
  documentWith,
  type HostileResponse,
  merged,
  sends,
  toTexts,
} from './hostile-responses.ts';

const text = (body: string) => () => body;
const good = (date: CivilDate) => toTexts(AFTER, date).join(',');
const between = (before: string, after: string) => (date: CivilDate) =>
  Buffer.concat([Buffer.from(before, 'latin1'), Buffer.from(good(date)), Buffer.from(after)]);

/** `size` bytes of `filler` between two texts, a piece at a time. */
function* padded(before: string, filler: string, size: number, after: string) {
  yield Buffer.from(before);
  const piece = Buffer.from(filler.repeat(1024));
  for (let sent = 0; sent < size; sent += piece.length) yield piece;
  yield Buffer.from(after);
}

const DEEP = 10_000;
const deepArray = '['.repeat(DEEP) + ']'.repeat(DEEP);
const NO_FRAME = /not valid: it is not JSON outside of the titles/;
const NO_TITLE = /not valid: the title at byte \d+ is not JSON/;
const unknownField = (name: string, type: string) => `${name} unknown_field ${type}`;

/** Responses whose frame, the text around the titles, is not the documented one. */
export const HOSTILE_DOCUMENTS: readonly HostileResponse[] = [
  sends('an empty body', text(''), breaksContract(/ends early, at byte 0/)),
  sends('white space alone', text(' \n\t '), {
    kind: 'retry',
    code: 'PLATFORM_UNAVAILABLE',
    message: /still open after 4 bytes/,
  }),
  sends(
    'an error object with status 200',
    text('{"error":"x"}'),
    breaksContract(/no field 'titles'/),
  ),
  sends('an empty object', text('{}'), breaksContract(/no field 'titles'/)),
  sends('an array', text('[]'), breaksContract(/not a JSON object, at byte 0/)),
  sends('a bare true', text('true'), breaksContract(/not a JSON object/)),
  sends('a bare string', text('"titles"'), breaksContract(/not a JSON object/)),
  sends(
    'HTML that calls itself JSON',
    text('<!DOCTYPE html><p>Bad gateway'),
    breaksContract(/not a JSON object/),
  ),
  sends('titles as null', text('{"titles":null}'), breaksContract(/'titles' is not an array/)),
  sends('titles as a number', text('{"titles":3}'), breaksContract(/'titles' is not an array/)),
  sends(
    'titles as an object',
    between('{"titles":{"a":[', ']}}'),
    breaksContract(/'titles' is not an array/),
  ),
  sends('titles as a string', text('{"titles":"[]"}'), breaksContract(/'titles' is not an array/)),
  sends(
    'titles in other letters',
    between('{"Titles":[', ']}'),
    breaksContract(/no field 'titles'/),
  ),
  sends(
    'titles inside another field only',
    between('{"data":{"titles":[', ']}}'),
    breaksContract(/no field 'titles'/),
  ),
  sends(
    'titles twice',
    between('{"titles":[],"titles":[', ']}'),
    breaksContract(/a second field 'titles'/),
  ),
  sends(
    'titles twice, once escaped',
    between('{"titles":[],"\\u0074itles":[', ']}'),
    breaksContract(/a second field 'titles'/),
  ),
  sends('titles under an escaped name', between('{"t\\u0069tle\\u0073":[', ']}'), merged()),
  sends(
    'another titles deeper, before and after',
    between('{"meta":{"titles":[{"order":{"uid":"no"}}]},"titles":[', '],"page":[{"titles":[1]}]}'),
    merged({ drift: [unknownField('meta', 'unknown'), unknownField('page', 'unknown')] }),
  ),
  sends(
    'titles after 1,000 KiB of another field',
    (date) => () => padded('{"padding":"', 'x', 1000 * 1024, `","titles":[${good(date)}]}`),
    merged({ drift: [unknownField('padding', 'unknown')] }),
  ),
  sends(
    'titles after 5 MB of another field',
    (date) => () => padded('{"padding":"', 'x', 5 * 1024 * 1024, `","titles":[${good(date)}]}`),
    breaksContract(/more than 1048576 bytes outside of the titles/),
  ),
  sends(
    'titles before 5 MB of another field',
    (date) => () => padded(`{"titles":[${good(date)}],"padding":"`, 'x', 5 * 1024 * 1024, '"}'),
    breaksContract(/more than 1048576 bytes outside of the titles/),
  ),
  sends(
    '5 MB of white space between two titles',
    (date) => () => {
      const [first = '', ...rest] = toTexts(AFTER, date);
      return padded(`{"titles":[${first}`, ' \n', 5 * 1024 * 1024, `,${rest.join(',')}]}`);
    },
    merged(),
  ),
  sends(
    'text after the document',
    between('{"titles":[', ']} ok'),
    breaksContract(/text after the document/),
  ),
  sends(
    'a second document after it',
    between('{"titles":[', ']}\n{"titles":[]}'),
    breaksContract(/text after the document/),
  ),
  sends(
    'a NUL byte after the document',
    between('{"titles":[', ']}\u0000'),
    breaksContract(/text after the document/),
  ),
  sends('white space around the document', between(' \r\n{ "titles" : [', '\n] } \n'), merged()),
  sends('a byte order mark', between('\xef\xbb\xbf{"titles":[', ']}'), merged()),
  sends('half a byte order mark', between('\xef\xbb{"titles":[', ']}'), breaksContract(NO_FRAME)),
  sends(
    'UTF-16',
    (date) => Buffer.from(documentWith(date), 'utf16le'),
    breaksContract(/text after the document/),
  ),
  sends('a comma too many', between('{"titles":[', ',]}'), breaksContract(NO_TITLE)),
  sends(
    'a comma too few',
    between('{"titles":[{"order":{"uid":"x"}} ', ']}'),
    breaksContract(/no ',' or '\]' after a title/),
  ),
  sends(
    'the wrong bracket',
    between('{"titles":[', '}}'),
    breaksContract(/no ',' or '\]' after a title/),
  ),
  sends('single quotes', text("{'titles':[]}"), breaksContract(NO_FRAME)),
  sends('NaN for a value', between('{"count":NaN,"titles":[', ']}'), breaksContract(NO_FRAME)),
  sends('a leading zero', between('{"count":01,"titles":[', ']}'), breaksContract(NO_FRAME)),
  sends('a comment', between('{/* all */"titles":[', ']}'), breaksContract(NO_FRAME)),
  sends(
    'invalid UTF-8 outside the titles',
    between('{"note":"\xc3\x28","titles":[', ']}'),
    breaksContract(NO_FRAME),
  ),
  sends(
    'invalid UTF-8 in a field name',
    between('{"n\xff":1,"titles":[', ']}'),
    breaksContract(NO_FRAME),
  ),
  sends(
    'a raw control character outside the titles',
    between('{"note":"a\u0001b","titles":[', ']}'),
    breaksContract(NO_FRAME),
  ),
  sends(
    'depth 10,000 outside the titles',
    between(`{"deep":${deepArray},"titles":[`, ']}'),
    merged({ drift: [unknownField('deep', 'unknown')] }),
  ),
  sends(
    'depth 10,000 that is never closed',
    between(`{"deep":${'['.repeat(DEEP)},"titles":[`, ']}'),
    { kind: 'retry', code: 'PLATFORM_UNAVAILABLE', message: /the document was still open/ },
  ),
  sends(
    '__proto__ and constructor as fields of the document',
    between('{"__proto__":{"titles":[]},"constructor":{},"titles":[', ']}'),
    merged({
      drift: [unknownField('__proto__', 'unknown'), unknownField('constructor', 'unknown')],
    }),
  ),
];
