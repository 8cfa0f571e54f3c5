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
  'whitespace in empty containers': '{"a":{ \n},"titles":[\t ]}',
  'elements of every kind': '{"titles":[null,true,false,"a",-0,0,0.0,10,1e5,1E+5,1e-5,[],{}]}',
  'a number that nothing can hold': '{"titles":[{"originalValue":1e400}]}',
  'escapes in strings': '{"titles":["\\"\\\\\\/\\b\\f\\n\\r\\t\\u00Ff"],"\\"":"\\\\"}',
  'brackets in strings': '{"titles":["]}","[{",{"]":"}"}],"a":"]}"}',
  'titles in an escaped spelling': '{"\\u0074itl\\u0065s":[1]}',
  'titles elsewhere as well': '{"a":{"titles":[1]},"titles":[{"titles":[2]}],"b":[{"titles":3}]}',
  'titles as a value': '{"a":"titles","titles":["titles"]}',
  'names like titles': '{"Titles":1,"titles ":2,"title":3,"\\ttitles":4,"titles":[]}',
  'other root fields': '{"page":1,"next":null,"titles":[1],"meta":{"a":[[],{}]},"n":-1.5e3}',
  'other fields twice': '{"a":1,"a":2,"titles":[]}',
  'characters of two, three and four bytes': '{"titles":["é€😀\u{10ffff}"],"é€😀\u{10ffff}":"é"}',
  'a byte order mark': '\ufeff{"titles":[1]}',
  'a byte order mark and whitespace': '\ufeff \n{"titles":[1]}',
  'invalid UTF-8 in a title': bytesOf('{"titles":["<ff>","<c3>",{"<80>":"<ed a0 80>"}],"é":1}'),
  'lone surrogates, escaped': '{"titles":["\\ud800"],"\\udc00":"\\udc00\\ud800"}',
  'U+0000, escaped': '{"titles":["\\u0000"],"\\u0000":"\\u0000"}',
  'U+007F and beyond the basic plane': '{"titles":["\u007f\u{1f600}"],"\u007f":"\u{1f600}"}',
};

/** Answers that must be refused, by what is wrong, with a part of the error's message. */
export const REFUSED: Record<string, { document: string | Buffer; error: string }> = {
  'null for titles': { document: '{"titles":null}', error: "'titles' is not an array" },
  'an object for titles': { document: '{"titles":{}}', error: "'titles' is not an array" },
  'a string for titles': { document: '{"titles":"[]"}', error: "'titles' is not an array" },
  'no titles field': { document: '{"error":"x"}', error: "no field 'titles'" },
  'an empty object': { document: '{}', error: "no field 'titles'" },
  'titles nested only': { document: '{"data":{"titles":[]}}', error: "no field 'titles'" },
  'titles twice': {
    document: '{"titles":[],"titles":[]}',
    error: "a second field 'titles', at byte 21",
  },
  'titles twice, spelled differently': {
    document: '{"titles":[1],"\\u0074itles":[1]}',
    error: "a second field 'titles', at byte 27",
  },
  'an array': { document: '[]', error: 'the document is not a JSON object, at byte 0' },
  'a literal': { document: 'true', error: 'the document is not a JSON object, at byte 0' },
  'a string': { document: '"titles"', error: 'the document is not a JSON object, at byte 0' },
  'a page': { document: '<html>', error: 'the document is not a JSON object, at byte 0' },
  'text after the document': {
    document: '{"titles":[]} x',
    error: 'text after the document, at byte 14',
  },
  'a second document': {
    document: '{"titles":[]}{}',
    error: 'text after the document, at byte 13',
  },
  'a closing brace too many': {
    document: '{"titles":[]}}',
    error: 'text after the document, at byte 13',
  },
  'U+0000 after the document': {
    document: '{"titles":[]}\0',
    error: 'text after the document, at byte 13',
  },
  'a byte order mark after the document': {
    document: '{"titles":[]}\ufeff',
    error: 'text after the document, at byte 13',
  },
  'a byte order mark twice': {
    document: '\ufeff\ufeff{"titles":[]}',
    error: 'the document is not a JSON object, at byte 3',
  },
  'a byte order mark after whitespace': {
    document: ' \ufeff{"titles":[]}',
    error: 'the document is not a JSON object, at byte 1',
  },
  'part of a byte order mark': {
    document: bytesOf('<ef bb>{"titles":[]}'),
    error: 'it is not JSON outside of the titles',
  },
  'UTF-16': {
    document: Buffer.from('{"titles":[]}', 'utf16le'),
    error: 'text after the document, at byte 25',
  },
  'a trailing comma in an array': {
    document: '{"titles":[1,]}',
    error: 'the title at byte 13 is not JSON',
  },
  'a trailing comma in an object': {
    document: '{"titles":[],}',
    error: 'it is not JSON outside of the titles',
  },
  'a leading comma': { document: '{"titles":[,1]}', error: 'the title at byte 11 is not JSON' },
  'two commas': { document: '{"titles":[1,,2]}', error: 'the title at byte 13 is not JSON' },
  'no comma': { document: '{"titles":[1 2]}', error: 'the title at byte 11 is not JSON' },
  'no colon': { document: '{"titles" []}', error: 'it is not JSON outside of the titles' },
  'two colons': { document: '{"titles"::[]}', error: "a second field 'titles', at byte 10" },
  'a colon in an array': {
    document: '{"titles":["a":1]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a name without a value': {
    document: '{"a","titles":[]}',
    error: 'it is not JSON outside of the titles',
  },
  'an unquoted name': { document: '{titles:[]}', error: 'it is not JSON outside of the titles' },
  'a number for a name': { document: '{1:[]}', error: 'it is not JSON outside of the titles' },
  'single quotes': { document: "{'titles':[]}", error: 'it is not JSON outside of the titles' },
  'a block comment': {
    document: '{/**/"titles":[]}',
    error: 'it is not JSON outside of the titles',
  },
  'a line comment': { document: '{"titles":[//\n]}', error: 'the title at byte 11 is not JSON' },
  'the wrong bracket for an array': {
    document: '{"titles":[}',
    error: 'the title at byte 11 is not JSON',
  },
  'the wrong bracket after a value': {
    document: '{"titles":[1}',
    error: "no ',' or ']' after a title, at byte 12",
  },
  'the wrong bracket for an object': {
    document: '{"titles":[{]',
    error: 'the title at byte 11 is not JSON',
  },
  'the wrong bracket after a field': {
    document: '{"titles":[{"a":1]',
    error: 'the title at byte 11 is not JSON',
  },
  'a leading zero': { document: '{"titles":[01]}', error: 'the title at byte 11 is not JSON' },
  'a negative leading zero': {
    document: '{"titles":[-01]}',
    error: 'the title at byte 11 is not JSON',
  },
  'no digit after the point': {
    document: '{"titles":[1.]}',
    error: 'the title at byte 11 is not JSON',
  },
  'an exponent after the point': {
    document: '{"titles":[1.e5]}',
    error: 'the title at byte 11 is not JSON',
  },
  'no digit before the point': {
    document: '{"titles":[.5]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a plus sign': { document: '{"titles":[+1]}', error: 'the title at byte 11 is not JSON' },
  'a minus sign alone': { document: '{"titles":[-]}', error: 'the title at byte 11 is not JSON' },
  'two points': { document: '{"titles":[1.2.3]}', error: 'the title at byte 11 is not JSON' },
  'an empty exponent': { document: '{"titles":[1e]}', error: 'the title at byte 11 is not JSON' },
  'an exponent of a sign': {
    document: '{"titles":[1e+]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a point in an exponent': {
    document: '{"titles":[1e5.0]}',
    error: 'the title at byte 11 is not JSON',
  },
  'two exponents': { document: '{"titles":[1e5e5]}', error: 'the title at byte 11 is not JSON' },
  'a hexadecimal number': {
    document: '{"titles":[0x1]}',
    error: 'the title at byte 11 is not JSON',
  },
  NaN: { document: '{"titles":[NaN]}', error: 'the title at byte 11 is not JSON' },
  Infinity: { document: '{"titles":[-Infinity]}', error: 'the title at byte 11 is not JSON' },
  undefined: { document: '{"titles":[undefined]}', error: 'the title at byte 11 is not JSON' },
  'a capital in a literal': {
    document: '{"titles":[True]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a broken literal': {
    document: '{"titles":[nul]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a longer literal': { document: '{"titles":[nulll]}', error: 'the title at byte 11 is not JSON' },
  'a raw line break in a string': {
    document: '{"titles":["\n"]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a raw U+0000 in a string': {
    document: '{"titles":["\0"]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a raw U+0000 in a name': {
    document: '{"\0":1,"titles":[]}',
    error: 'it is not JSON outside of the titles',
  },
  'a raw U+001F in a string': {
    document: '{"titles":["\u001f"]}',
    error: 'the title at byte 11 is not JSON',
  },
  'an unknown escape': {
    document: '{"titles":["\\x41"]}',
    error: 'the title at byte 11 is not JSON',
  },
  'an escaped single quote': {
    document: '{"titles":["\\\'"]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a short escape': { document: '{"titles":["\\u12"]}', error: 'the title at byte 11 is not JSON' },
  'a wrong digit in an escape': {
    document: '{"titles":["\\u00g0"]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a no-break space between tokens': {
    document: '{"titles":[\u00a01]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a form feed between tokens': {
    document: '{"titles":[\f1]}',
    error: 'the title at byte 11 is not JSON',
  },
  'a byte of no character in a title': {
    document: bytesOf('{"titles":[<ff>]}'),
    error: 'the title at byte 11 is not JSON',
  },
  'invalid UTF-8 in a root name': {
    document: bytesOf('{"<ff>":1,"titles":[]}'),
    error: 'it is not JSON outside of the titles',
  },
  'invalid UTF-8 in another field': {
    document: bytesOf('{"titles":[],"a":["<c3 28>"]}'),
    error: 'it is not JSON outside of the titles',
  },
  'invalid UTF-8 in a nested name': {
    document: bytesOf('{"a":{"<80>":1},"titles":[]}'),
    error: 'it is not JSON outside of the titles',
  },
  'a surrogate in UTF-8': {
    document: bytesOf('{"a":"<ed a0 80>","titles":[]}'),
    error: 'it is not JSON outside of the titles',
  },
};
