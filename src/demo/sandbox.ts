/**
 * A made-up platform: both documented operations, tokens, and synthetic titles that are restated with age. Where the
 * platform's documentation is incomplete, the sandbox documents its own behaviour; the real platform may behave
 * differently.
 */

import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fastify, { type FastifyInstance } from 'fastify';
import { type Loop, loop } from '../base/runtime/timing.ts';
import {
  addDays,
  type CivilDate,
  dateIn,
  daysBetween,
  parseCivilDate,
  toCivilDate,
} from '../base/values/business-day.ts';
import { hashText, invoiceOf, SyntheticTitles } from './synthetic-titles.ts';

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

/** The shape of the platform's error bodies is unknown, so this one is minimal. */
export function errorAnswer(status: number, message: string): Answer {
  return bytesAnswer(status, JSON.stringify({ status, message }));
}

/** Returns `{"titles":[…]}` from titles as JSON texts, with at most one chunk in memory. */
function titlesAnswer(titles: Iterable<string>): Answer {
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

/** The platform's time zone, for "today" and the age of a day. */
const PLATFORM_TIME_ZONE = 'America/Sao_Paulo';

/** No titles exist before this date, so that a sweep from the year 1 ends. */
export const FIRST_SYNTHETIC_DATE = toCivilDate('2020-01-01');

/** Titles by accepted date, as JSON texts. */
export interface Days {
  titlesOn(date: CivilDate): Iterable<string>;
  /** Returns the titles accepted on the date or later, date by date. */
  titlesSince(date: CivilDate): Iterable<string>;
}

export class SyntheticDays implements Days {
  readonly #titles: SyntheticTitles;
  readonly #now: () => Date;

  constructor(titles: SyntheticTitles, now: () => Date) {
    this.#titles = titles;
    this.#now = now;
  }

  get today(): CivilDate {
    return dateIn(PLATFORM_TIME_ZONE, this.#now());
  }

  titlesOn(date: CivilDate): Iterable<string> {
    const ageDays = daysBetween(date, this.today);
    const isCovered = ageDays >= 0 && date >= FIRST_SYNTHETIC_DATE;
    return isCovered ? this.#titles.titlesOn(date, ageDays) : [];
  }

  *titlesSince(date: CivilDate): Generator<string, void> {
    const { today } = this;
    let next = date > FIRST_SYNTHETIC_DATE ? date : FIRST_SYNTHETIC_DATE;
    for (; next <= today; next = addDays(next, 1)) yield* this.titlesOn(next);
  }
}

interface PlatformParts {
  /** Whether an `Authorization` header has a valid token. */
  readonly isAuthorized: (header: string | undefined) => boolean;
  readonly days: Days;
  /** Answers `POST /api/providers` with the parsed body. */
  readonly receive: (body: unknown) => Answer;
  readonly exchange: Exchange;
}

/**
 * Answers a request that has a valid token. A request has its effect when `regular` is called, which returns the
 * answer of the platform.
 */
export type Exchange = (
  request: FastifyRequest,
  reply: FastifyReply,
  regular: () => Answer,
) => unknown;

const regularExchange: Exchange = (_request, reply, regular) => {
  const { status, headers, body } = regular();
  return reply
    .code(status)
    .headers(headers)
    .send(Readable.from(body, { objectMode: false }));
};

interface DateFilter {
  readonly date: CivilDate;
  readonly isExact: boolean;
}

/** The platform's two operations. */
async function registerPlatformRoutes(
  app: FastifyInstance,
  { isAuthorized, days, receive, exchange }: PlatformParts,
): Promise<void> {
  app.addHook('onRequest', async (request, reply) => {
    if (isAuthorized(request.headers.authorization)) return;
    await reply.code(401).send({ status: 401, message: 'the token is missing or invalid' });
  });

  app.get('/api/anticipations/conciliation', async (request, reply) =>
    exchange(request, reply, () => {
      const filter = parseFilter(request.query as Readonly<Record<string, unknown>>);
      if (typeof filter === 'string') return errorAnswer(400, filter);
      const { date, isExact } = filter;
      return titlesAnswer(isExact ? days.titlesOn(date) : days.titlesSince(date));
    }),
  );

  app.post('/api/providers', async (request, reply) =>
    exchange(request, reply, () => receive(request.body)),
  );
}

/**
 * Returns the filter, or its fault. The real platform's answer to both parameters, or to neither,
 * is unknown. The sandbox refuses them, which shows faulty clients.
 */
function parseFilter(query: Readonly<Record<string, unknown>>): DateFilter | string {
  const { conciliationDate, anticipationDate } = query;
  if (conciliationDate !== undefined && anticipationDate !== undefined) {
    return 'the sandbox takes conciliationDate or anticipationDate, not both';
  }
  const text = conciliationDate ?? anticipationDate;
  if (text === undefined) return 'the sandbox wants conciliationDate or anticipationDate';
  const date = typeof text === 'string' ? parseCivilDate(text) : null;
  if (date === null) return 'not a calendar date as YYYY-MM-DD';
  return { date, isExact: conciliationDate !== undefined };
}

export const DEFAULT_TITLES_PER_DAY = 60;

export interface Sandbox {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly baseUrl: string;
  readonly token: string;
  /** Ends every connection immediately. */
  close(): Promise<void>;
}

/** Resolves when the sandbox listens, on any free port. */
export async function startSandbox(): Promise<Sandbox> {
  const token = randomBytes(32).toString('base64url');
  const titles = new SyntheticTitles({
    seed: 'sandbox',
    titlesPerDay: DEFAULT_TITLES_PER_DAY,
    restate: true,
    hasDocuments: true,
  });
  const app = createPlatform({
    isAuthorized: (header) => header === `Bearer ${token}`,
    days: new SyntheticDays(titles, () => new Date()),
    // The documentation does not show the body of a 200.
    receive: () => bytesAnswer(200, '{}'),
    exchange: regularExchange,
  });
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  return { baseUrl, token, close: () => app.close() };
}

/** Returns a platform of these parts, which does not listen yet. */
export function createPlatform(parts: PlatformParts): FastifyInstance {
  // No logger: paths hold only dates, but an error may quote a body with personal data.
  const app = fastify({ logger: false, forceCloseConnections: true, exposeHeadRoutes: false });
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    const message = status < 500 ? error.message : 'internal server error';
    return reply.code(status).send({ status, message });
  });
  app.register(registerPlatformRoutes, parts);
  return app;
}

/** A line of `GET /api/bookings`, as far as the ERP reads it. */
interface Line {
  readonly seq: string;
  readonly key: string;
  readonly contentHash: string;
}

interface Page {
  readonly lines: readonly Line[];
  readonly next: string;
}

const EVERY_MS = 1_000;
const LINES_AT_ONCE = 500;

/**
 * A made-up ERP that posts each booking line, as a program of an integrator does: it reads the feed after its
 * position, sends a receipt for each line, and then continues. After an error it tries again after a second.
 *
 * @param options.url the address of the console
 * @param options.key the API key of the consumer
 */
export function startSyntheticErp(options: {
  readonly url: string;
  readonly key: string;
}): Pick<Loop, 'stop'> {
  const ask = async (signal: AbortSignal, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(new URL(path, options.url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${options.key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  };
  let position = '0';
  const post = async (signal: AbortSignal) => {
    const path = `/api/bookings?after=${position}&limit=${LINES_AT_ONCE}`;
    const { lines, next } = (await ask(signal, path)) as Page;
    if (lines.length > 0) {
      await ask(signal, '/api/bookings/receipts', { receipts: lines.map(receiptOf) });
    }
    position = next;
  };
  return loop({ everyMs: EVERY_MS, run: (signal) => post(signal).catch(() => undefined) });
}

const receiptOf = ({ seq, key, contentHash }: Line) => ({
  idempotencyKey: `${key}:${seq}`,
  key,
  contentHash,
  status: 'posted',
  document: `ERP-${seq}`,
});

/** A title as far as the made-up ERP knows it. */
export interface AcceptedTitle {
  readonly orderUid: string;
  readonly occurrence: number;
  readonly supplier: string | null;
  readonly acceptedDate: CivilDate;
  readonly dueDate: CivilDate | null;
  /** Exact decimal. */
  readonly value: string;
}

/** A payable in the shape of an import. */
export interface SyntheticPayable {
  readonly erpKey: string;
  readonly company: string;
  readonly supplierExternalId: string;
  readonly document: string;
  readonly instalment: string;
  readonly orderUid?: string;
  readonly issueDate: CivilDate | null;
  readonly dueDate: CivilDate | null;
  readonly openValue: string;
  readonly status: 'open' | 'paid';
  readonly payee?: string;
}

/** Of how many titles one has a fault of each kind. */
const TITLES_A_FAULT = 100;

/** The tax identifier of a made-up financial agent. */
const AGENT = '11222333000181';

/**
 * The payables of a made-up ERP: one for each title, as a pure function of the titles. The ERP knows the order of
 * half of them. Of 100 titles, about one has each fault: paid to the supplier already, payee changed already,
 * twice in the ERP, one cent off, another due date, missing in the ERP, an order that the platform does not have.
 */
export function syntheticPayables(titles: readonly AcceptedTitle[]): SyntheticPayable[] {
  const copied = new Set(
    titles.filter(({ occurrence }) => occurrence > 1).map(({ orderUid }) => orderUid),
  );
  return titles.flatMap((title) => {
    if (title.supplier === null) return [];
    const payable = payableOf(title, title.supplier);
    // Copies of one title have equal payables, so only titles without copies have faults.
    return copied.has(title.orderUid)
      ? [payable]
      : faulty(payable, hashText(`fault/${title.orderUid}`));
  });
}

function payableOf(title: AcceptedTitle, supplier: string): SyntheticPayable {
  const number = hashText(`document/${title.orderUid}`);
  return {
    erpKey: `AP-${title.orderUid}-${title.occurrence}`,
    company: '0001',
    supplierExternalId: supplier,
    document: invoiceOf(title.orderUid),
    instalment: '1/1',
    ...(number % 2 === 0 && { orderUid: title.orderUid }),
    // The ERP lacks the date of some invoices.
    issueDate: number % 20 === 1 ? null : addDays(title.acceptedDate, -1 - (number % 15)),
    dueDate: title.dueDate,
    openValue: title.value,
    status: 'open',
  };
}

function faulty(payable: SyntheticPayable, draw: number): SyntheticPayable[] {
  const { erpKey, dueDate, openValue } = payable;
  switch (draw % TITLES_A_FAULT) {
    case 0:
      return [{ ...payable, status: 'paid' }];
    case 1:
      return [{ ...payable, payee: AGENT }];
    case 2:
      return [payable, { ...payable, erpKey: `${erpKey}-2` }];
    case 3:
      return [{ ...payable, openValue: oneCentOff(openValue) }];
    case 4: {
      const { orderUid: _, ...rest } = payable;
      return [{ ...rest, dueDate: dueDate === null ? null : addDays(dueDate, 30) }];
    }
    case 5:
      return [];
    case 6:
      return [
        payable,
        {
          ...payable,
          erpKey: `${erpKey}-x`,
          orderUid: `x-${erpKey}`,
          document: 'NF-0',
          openValue: '100.00',
        },
      ];
    default:
      return [payable];
  }
}

/** Another value without arithmetic on decimals: one cent more, or one less where the last digit is 9. */
const oneCentOff = (value: string): string => {
  const [whole = '0', cents = ''] = value.split('.');
  const written = `${whole}.${cents.padEnd(2, '0')}`;
  return written.replace(/.$/, (digit) => (digit === '9' ? '8' : String(Number(digit) + 1)));
};
