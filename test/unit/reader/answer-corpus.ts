/** Bytes from readable text, in which `<c3 28>` means those two bytes. */
function bytesOf(text: string): Buffer {
  const parts = text.split(/<((?:[0-9a-f]{2} ?)+)>/);
  return Buffer.concat(
    parts.map((part, index) =>
      index % 2 === 0 ? Buffer.from(part) : Buffer.from(part.replaceAll(' ', ''), 'hex'),
    ),
  );
}

/** Answers that must be read, by what is special about them. */
export const READABLE: Record<string, string | Buffer> = {
  'no titles': '{"titles":[]}',
  'one title': '{"titles":[{"order":{"uid":"a"},"originalValue":1.10}]}',
  'two titles': '{"titles":[{"a":[1,2,{}]},{"a":[]}]}',
  'whitespace everywhere': ' \t\r\n{ "titles" : [ { } , [ ] , 1 , "x" ] , "n" : { } } \n',
  'elements of every kind': '{"titles":[null,true,false,"a",-0,0,0.0,10,1e5,1E+5,1e-5,[],{}]}',
  'escapes in strings': '{"titles":["\\"\\\\\\/\\b\\f\\n\\r\\t\\u00Ff"],"\\"":"\\\\"}',
  'brackets in strings': '{"titles":["]}","[{",{"]":"}"}],"a":"]}"}',
  'titles in an escaped spelling': '{"\\u0074itl\\u0065s":[1]}',
  'titles elsewhere as well': '{"a":{"titles":[1]},"titles":[{"titles":[2]}],"b":[{"titles":3}]}',
  'titles as a value': '{"a":"titles","titles":["titles"]}',
  'names like titles': '{"Titles":1,"titles ":2,"title":3,"\\ttitles":4,"titles":[]}',
  'other root fields': '{"page":1,"next":null,"titles":[1],"meta":{"a":[[],{}]},"n":-1.5e3}',
  'other fields twice': '{"a":1,"a":2,"titles":[]}',
  'a byte order mark': '\ufeff{"titles":[1]}',
  'a byte order mark and whitespace': '\ufeff \n{"titles":[1]}',
  'invalid UTF-8 in a title': bytesOf('{"titles":["<ff>","<c3>",{"<80>":"<ed a0 80>"}],"é":1}'),
  'lone surrogates, escaped': '{"titles":["\\ud800"],"\\udc00":"\\udc00\\ud800"}',
  'U+0000, escaped': '{"titles":["\\u0000"],"\\u0000":"\\u0000"}',
  'U+007F and beyond the basic plane': '{"titles":["\u007f\u{1f600}"],"\u007f":"\u{1f600}"}',
};

const OUTSIDE = 'it is not JSON outside of the titles';
const NO_TITLE = (at: number) => `the title at byte ${at} is not JSON`;
const NO_OBJECT = (at: number) => `the document is not a JSON object, at byte ${at}`;
const SECOND = (at: number) => `a second field 'titles', at byte ${at}`;
const AFTER = (at: number) => `text after the document, at byte ${at}`;

/** Answers that must be refused: what is wrong, the answer, and a part of the error's message. */
export const REFUSED: readonly (readonly [string, string | Buffer, string])[] = [
  ['null for titles', '{"titles":null}', "'titles' is not an array"],
  ['an object for titles', '{"titles":{}}', "'titles' is not an array"],
  ['no titles field', '{"error":"x"}', "no field 'titles'"],
  ['an empty object', '{}', "no field 'titles'"],
  ['titles twice', '{"titles":[],"titles":[]}', SECOND(21)],
  ['titles twice, spelled differently', '{"titles":[1],"\\u0074itles":[1]}', SECOND(27)],
  ['an array', '[]', NO_OBJECT(0)],
  ['a page', '<html>', NO_OBJECT(0)],
  ['text after the document', '{"titles":[]} x', AFTER(14)],
  ['a second document', '{"titles":[]}{}', AFTER(13)],
  ['a byte order mark after the document', '{"titles":[]}\ufeff', AFTER(13)],
  ['a byte order mark twice', '\ufeff\ufeff{"titles":[]}', NO_OBJECT(3)],
  ['a byte order mark after whitespace', ' \ufeff{"titles":[]}', NO_OBJECT(1)],
  ['part of a byte order mark', bytesOf('<ef bb>{"titles":[]}'), OUTSIDE],
  ['a trailing comma in an object', '{"titles":[],}', OUTSIDE],
  ['an unquoted name', '{titles:[]}', OUTSIDE],
  ['a raw U+0000 in a name', '{"\0":1,"titles":[]}', OUTSIDE],
  ['invalid UTF-8 in a root name', bytesOf('{"<ff>":1,"titles":[]}'), OUTSIDE],
  ['invalid UTF-8 in another field', bytesOf('{"titles":[],"a":["<c3 28>"]}'), OUTSIDE],
  ['a surrogate in UTF-8', bytesOf('{"a":"<ed a0 80>","titles":[]}'), OUTSIDE],
  ['UTF-16', Buffer.from('{"titles":[]}', 'utf16le'), AFTER(25)],
  // What is wrong inside of a title: see exact-title.test.ts.
  ['a trailing comma in an array', '{"titles":[1,]}', NO_TITLE(13)],
  ['a leading comma', '{"titles":[,1]}', NO_TITLE(11)],
  ['no comma', '{"titles":[1 2]}', NO_TITLE(11)],
  ['a colon in an array', '{"titles":["a":1]}', NO_TITLE(11)],
  ['the wrong bracket for an array', '{"titles":[}', NO_TITLE(11)],
  ['the wrong bracket for an object', '{"titles":[{]', NO_TITLE(11)],
  ['a byte of no character in a title', bytesOf('{"titles":[<ff>]}'), NO_TITLE(11)],
  ['two colons', '{"titles"::[]}', SECOND(10)],
  ['the wrong bracket after a value', '{"titles":[1}', "no ',' or ']' after a title, at byte 12"],
];
