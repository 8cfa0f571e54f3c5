export interface Answer {
  readonly status: number;
  /** Names in lower case. Without `content-length` the body is sent in chunks. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

export const JSON_TYPE = 'application/json; charset=utf-8';
const CHUNK_CHARACTERS = 65_536;

export function bytesAnswer(
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return {
    status,
    headers: { 'content-type': JSON_TYPE, 'content-length': String(bytes.length), ...headers },
    body: [bytes],
  };
}

export function jsonAnswer(status: number, value: unknown): Answer {
  return bytesAnswer(status, JSON.stringify(value));
}

/** The shape of the platform's error bodies is unknown, so this one is minimal. */
export function errorAnswer(status: number, message: string): Answer {
  return jsonAnswer(status, { status, message });
}

/** Returns `{"titles":[…]}` from titles as JSON texts, with at most one chunk in memory. */
export function titlesAnswer(titles: Iterable<string>): Answer {
  return { status: 200, headers: { 'content-type': JSON_TYPE }, body: renderTitles(titles) };
}

function* renderTitles(titles: Iterable<string>): Generator<Uint8Array, void> {
  let text = '{"titles":[';
  let separator = '';
  for (const title of titles) {
    text += separator + title;
    separator = ',';
    if (text.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(`${text}]}`);
}
