import type { CivilDate } from '../../src/base/values/business-day.ts';
import {
  AFTER,
  breaksContract,
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
const NO_FRAME = /not valid: it is not JSON outside of the titles/;
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
  sends(
    'HTML that calls itself JSON',
    text('<!DOCTYPE html><p>Bad gateway'),
    breaksContract(/not a JSON object/),
  ),
  sends('titles as null', text('{"titles":null}'), breaksContract(/'titles' is not an array/)),
  sends(
    'titles as an object',
    between('{"titles":{"a":[', ']}}'),
    breaksContract(/'titles' is not an array/),
  ),
  sends(
    'titles twice, once escaped',
    between('{"titles":[],"\\u0074itles":[', ']}'),
    breaksContract(/a second field 'titles'/),
  ),
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
  sends('a byte order mark', between('\xef\xbb\xbf{"titles":[', ']}'), merged()),
  sends(
    'a comma too few',
    between('{"titles":[{"order":{"uid":"x"}} ', ']}'),
    breaksContract(/no ',' or '\]' after a title/),
  ),
  sends(
    'invalid UTF-8 outside the titles',
    between('{"note":"\xc3\x28","titles":[', ']}'),
    breaksContract(NO_FRAME),
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
