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

/** Documents that must be refused, with what is wrong, by a part of the error's message. */
const REFUSED_BY_ERROR: Record<string, Record<string, string | Buffer>> = {
  "'titles' is not an array": {
    'null for titles': '{"titles":null}',
    'an object for titles': '{"titles":{}}',
  },
  "no field 'titles'": {
    'no titles field': '{"error":"x"}',
    'an empty object': '{}',
  },
  "a second field 'titles', at byte 21": { 'titles twice': '{"titles":[],"titles":[]}' },
  "a second field 'titles', at byte 27": {
    'titles twice, spelled differently': '{"titles":[1],"\\u0074itles":[1]}',
  },
  'the document is not a JSON object, at byte 0': {
    'an array': '[]',
    'a page': '<html>',
  },
  'text after the document, at byte 14': { 'text after the document': '{"titles":[]} x' },
  'text after the document, at byte 13': {
    'a second document': '{"titles":[]}{}',
    'a byte order mark after the document': '{"titles":[]}\ufeff',
  },
  'the document is not a JSON object, at byte 3': {
    'a byte order mark twice': '\ufeff\ufeff{"titles":[]}',
  },
  'the document is not a JSON object, at byte 1': {
    'a byte order mark after whitespace': ' \ufeff{"titles":[]}',
  },
  'it is not JSON outside of the titles': {
    'part of a byte order mark': bytesOf('<ef bb>{"titles":[]}'),
    'a trailing comma in an object': '{"titles":[],}',
    'an unquoted name': '{titles:[]}',
    'a raw U+0000 in a name': '{"\0":1,"titles":[]}',
    'invalid UTF-8 in a root name': bytesOf('{"<ff>":1,"titles":[]}'),
    'invalid UTF-8 in another field': bytesOf('{"titles":[],"a":["<c3 28>"]}'),
    'a surrogate in UTF-8': bytesOf('{"a":"<ed a0 80>","titles":[]}'),
  },
  'text after the document, at byte 25': { 'UTF-16': Buffer.from('{"titles":[]}', 'utf16le') },
  'the title at byte 13 is not JSON': {
    'a trailing comma in an array': '{"titles":[1,]}',
  },
  // What is wrong inside of a title: see exact-title.test.ts.
  'the title at byte 11 is not JSON': {
    'a leading comma': '{"titles":[,1]}',
    'no comma': '{"titles":[1 2]}',
    'a colon in an array': '{"titles":["a":1]}',
    'the wrong bracket for an array': '{"titles":[}',
    'the wrong bracket for an object': '{"titles":[{]',
    'a byte of no character in a title': bytesOf('{"titles":[<ff>]}'),
  },
  "a second field 'titles', at byte 10": { 'two colons': '{"titles"::[]}' },
  "no ',' or ']' after a title, at byte 12": { 'the wrong bracket after a value': '{"titles":[1}' },
};

/** Answers that must be refused, by what is wrong, with a part of the error's message. */
export const REFUSED: Record<string, { document: string | Buffer; error: string }> =
  Object.fromEntries(
    Object.entries(REFUSED_BY_ERROR).flatMap(([error, documents]) =>
      Object.entries(documents).map(([name, document]) => [name, { document, error }]),
    ),
  );
