import { cnpj, cpf } from 'cpf-cnpj-validator';
import { addDays, type CivilDate, isWeekend } from '../base/values/business-day.ts';

/** Odd, so that `index * GOLDEN_RATIO` yields every 32-bit number once before it repeats. */
const GOLDEN_RATIO = 0x9e3779b1;

/** Mixes 32 bits. A bijection (the finaliser of MurmurHash3), so distinct inputs have distinct results. */
function mixBits(bits: number): number {
  let mixed = bits ^ (bits >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Returns the same unsigned 32 bits for the same text on every machine. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mixBits(hash);
}

/** Returns integers from 0 to `limit - 1` in an order that depends only on the seed. */
export type SeededRandom = (limit: number) => number;

export function createSeededRandom(seed: string): SeededRandom {
  let state = hashText(seed);
  return (limit) => {
    state = (state + GOLDEN_RATIO) | 0;
    return mixBits(state) % limit;
  };
}

/** Returns one of `choices`, which must not be empty. */
export function pick<T>(choices: readonly [T, ...T[]], draw: number): T {
  return choices[draw % choices.length] ?? choices[0];
}

/**
 * The companies and people of the synthetic titles, encoded as JSON once for each seed: the same
 * few hundred occur every day. All are invented. Their tax identifiers have correct check digits
 * and may by chance be real ones.
 */
interface SyntheticParties {
  readonly providers: readonly [ProviderText, ...ProviderText[]];
  /** The `buyerIdentification` and the `financialAgent` of titles that the buyer itself pays early. */
  readonly buyers: readonly [BuyerText, ...BuyerText[]];
  /** JSON objects for the field `financialAgent`. */
  readonly financialAgents: readonly [string, ...string[]];
}

interface ProviderText {
  readonly externalId: string;
  readonly provider: string;
}

interface BuyerText {
  readonly identification: string;
  readonly asFinancialAgent: string;
}

const PROVIDERS = 384;
const BANK_AGENTS = 14;

const BANKS = ['001', '033', '077', '104', '237', '260', '341', '756'] as const;
const GIVEN_NAMES = ['Antônio', 'Conceição', 'Érica', 'Fabrício', 'Inês', 'João', 'Luís', 'Márcia'];
const SURNAMES = ["d'Ávila", 'Araújo', 'Falcão', 'Gonçalves', 'Magalhães', 'Müller', 'Simões'];
const TRADES = ['Capital', 'Crédito', 'Fomento Mercantil', 'Recebíveis', 'Securitizadora'];
const COMPANY_FORMS = ['Ltda.', 'S.A.', 'S/A', 'EIRELI', '& Filhos', '"Matriz"'];
const ALPHANUMERICS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Returns a CPF: the nine digits and their two check digits (modulo 11). */
export function toCpf(nineDigits: string): string {
  const ten = nineDigits + cpf.verifierDigit(nineDigits);
  return ten + cpf.verifierDigit(ten);
}

function toCnpj(twelveCharacters: string): string {
  const thirteen = twelveCharacters + cnpj.verifierDigit(twelveCharacters);
  return thirteen + cnpj.verifierDigit(thirteen);
}

function draw(random: SeededRandom, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(random(alphabet.length))).join('');
}

function drawDigits(random: SeededRandom, length: number): string {
  return draw(random, '0123456789', length);
}

function drawCpf(random: SeededRandom): string {
  // A separate first digit avoids eleven equal digits, which no CPF has.
  const first = random(9);
  return toCpf(`${first}${first + 1}${drawDigits(random, 7)}`);
}

function drawCnpj(random: SeededRandom, isAlphanumeric = false): string {
  const root = isAlphanumeric ? draw(random, ALPHANUMERICS, 7) : drawDigits(random, 7);
  return toCnpj(`${random(9) + 1}${root}000${random(4) + 1}`);
}

function drawBankAccount(random: SeededRandom) {
  return {
    bank: pick(BANKS, random(BANKS.length)),
    agency: drawDigits(random, 4),
    // Most banks number their branches without a check digit. One bank uses X for ten.
    agencyDigit: random(3) === 0 ? pick(['0', '4', '7', 'X'], random(4)) : null,
    account: drawDigits(random, 5 + random(4)),
    accountDigit: drawDigits(random, 1),
  };
}

function drawName(random: SeededRandom): string {
  const surname = SURNAMES[random(SURNAMES.length)];
  return random(3) === 0
    ? `${GIVEN_NAMES[random(GIVEN_NAMES.length)]} ${surname}`
    : `${surname} ${TRADES[random(TRADES.length)]} ${COMPANY_FORMS[random(COMPANY_FORMS.length)]}`;
}

/** The name of a supplier, which the titles do not state. */
export const syntheticName = (externalId: string): string =>
  drawName(createSeededRandom(`${externalId}/name`));

/** Some writers escape non-ASCII characters. Both forms are the same JSON. */
function escapeBeyondAscii(json: string): string {
  return json.replace(
    /[^\u0020-\u007e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function renderFinancialAgent(
  random: SeededRandom,
  identificationNumber: string,
  buyerIsFinancial: boolean,
): string {
  const json = JSON.stringify({
    type: 'INDIVIDUAL',
    identificationNumber,
    name: drawName(random),
    buyerIsFinancial,
    payment: { type: 'BANK_TRANSFER', ...drawBankAccount(random) },
  });
  return random(5) === 0 ? escapeBeyondAscii(json) : json;
}

function drawProvider(random: SeededRandom, number: number): ProviderText {
  const externalId = `F${String(number).padStart(6, '0')}`;
  const kind = random(20);
  const identification = kind < 5 ? drawCpf(random) : drawCnpj(random, kind > 16);
  const bankAccount = drawBankAccount(random);
  return { externalId, provider: JSON.stringify({ identification, externalId, bankAccount }) };
}

function atLeastOne<T>(length: number, create: (index: number) => T): [T, ...T[]] {
  return [create(0), ...Array.from({ length: length - 1 }, (_, index) => create(index + 1))];
}

function createSyntheticParties(seed: string): SyntheticParties {
  const random = createSeededRandom(`${seed}/parties`);
  const buyerRoot = `${random(9) + 1}${drawDigits(random, 7)}`;
  return {
    buyers: atLeastOne(3, (index) => {
      // The head office and its branches share the first eight digits.
      const identification = toCnpj(`${buyerRoot}000${index + 1}`);
      return {
        identification,
        asFinancialAgent: renderFinancialAgent(random, identification, true),
      };
    }),
    financialAgents: atLeastOne(BANK_AGENTS, (index) => {
      const identification = index % 5 === 4 ? drawCpf(random) : drawCnpj(random, index % 5 === 3);
      return renderFinancialAgent(random, identification, false);
    }),
    providers: atLeastOne(PROVIDERS, (index) => drawProvider(random, index * 7 + 101)),
  };
}

/** The ages, in days, from which the titles of a day change. */
const RESTATED_FROM_AGE_DAYS = 2;
const WITHDRAWN_FROM_AGE_DAYS = 4;

const DUPLICATES_PERCENT = 3;
const SHORTEST_TERM_DAYS = 15;
const LONGEST_TERM_DAYS = 120;

export interface SyntheticTitlesOptions {
  readonly seed: string;
  /** The number for a working day, plus or minus a tenth; a Saturday or Sunday has about a fifth. */
  readonly titlesPerDay: number;
  /** Whether a day is restated with age: see `SyntheticTitles`. */
  readonly restate: boolean;
  /** Whether each title states the number of its invoice, which the platform does not document. Absent: no. */
  readonly hasDocuments?: boolean;
}

/** The invoice of an order. */
export const invoiceOf = (orderUid: string): string =>
  `NF-${hashText(`document/${orderUid}`) % 1_000_000}`;

/** The common parts of all titles of one day. */
interface DayText {
  readonly acceptedDate: CivilDate;
  /** By term in days, filled on demand. */
  readonly dueDates: CivilDate[];
  readonly laneA: number;
  readonly laneB: number;
}

/**
 * Titles as a pure function of the seed, the date, the number of the title in its day, and the age
 * of the day in days. Nothing is stored, so a day of a million titles takes no memory, and two
 * sandboxes with one seed give the same answers. About 3 % of a day's titles repeat an earlier one
 * exactly. With `restate`, a day changes with age:
 * - today (0) has the first half of its titles, and from the next day on all of them;
 * - from 1 day on the order of the titles differs at every age;
 * - from 2 days on about 1 % have another financial discount;
 * - from 4 days on about 1 % are withdrawn.
 */
export class SyntheticTitles {
  readonly #seed: string;
  readonly #titlesPerDay: number;
  readonly #restate: boolean;
  readonly #hasDocuments: boolean;
  readonly #parties: SyntheticParties;

  constructor(options: SyntheticTitlesOptions) {
    this.#seed = options.seed;
    this.#titlesPerDay = options.titlesPerDay;
    this.#restate = options.restate;
    this.#hasDocuments = options.hasDocuments ?? false;
    this.#parties = createSyntheticParties(options.seed);
  }

  /** Returns the number of titles of the day at that age, before withdrawals. */
  countOn(date: CivilDate, ageDays: number): number {
    const base = isWeekend(date) ? this.#titlesPerDay / 5 : this.#titlesPerDay;
    const swingPercent = (hashText(`${this.#seed}/size/${date}`) % 21) - 10;
    const complete = Math.round(base * (1 + swingPercent / 100));
    return ageDays === 0 ? Math.ceil(complete / 2) : complete;
  }

  *titlesOn(
    date: CivilDate,
    ageDays: number,
    count: number = this.countOn(date, ageDays),
  ): Generator<string, void> {
    const day = this.#dayText(date);
    const age = this.#restate ? ageDays : 0;
    const start = age === 0 ? 0 : mixBits(age) % Math.max(count, 1);
    for (let place = 0; place < count; place++) {
      const index = (place + start) % count;
      const fate = drawFor(day, index, 0) % 100;
      if (fate === 0 && age >= WITHDRAWN_FROM_AGE_DAYS) continue;
      const isRestated = fate === 1 && age >= RESTATED_FROM_AGE_DAYS;
      yield this.#title(day, originalOf(day, index), isRestated);
    }
  }

  #dayText(acceptedDate: CivilDate): DayText {
    return {
      acceptedDate,
      dueDates: [],
      laneA: hashText(`${this.#seed}/a/${acceptedDate}`),
      laneB: hashText(`${this.#seed}/b/${acceptedDate}`),
    };
  }

  /**
   * A template instead of `JSON.stringify`, because the sandbox must be faster than the program in
   * the benchmark. All parts that are not fixed text, digits or hexadecimal digits were encoded by
   * `JSON.stringify` before.
   */
  #title(day: DayText, index: number, isRestated: boolean): string {
    const draw = (slot: number) => drawFor(day, index, slot);
    const buyer = pick(this.#parties.buyers, draw(1));
    const provider = pick(this.#parties.providers, draw(2));
    const agentDraw = draw(3);
    const agent =
      agentDraw % 8 === 0
        ? buyer.asFinancialAgent
        : pick(this.#parties.financialAgents, agentDraw >>> 3);

    const termDays = SHORTEST_TERM_DAYS + (draw(4) % (LONGEST_TERM_DAYS - SHORTEST_TERM_DAYS + 1));
    day.dueDates[termDays] ??= addDays(day.acceptedDate, termDays);
    const dueDate = day.dueDates[termDays];
    // From 80.00 to about 320,000.00, small amounts far more often than large ones. Shifts instead
    // of `Math.exp`, whose last digits depend on the JavaScript engine.
    const sizeDraw = draw(5);
    const doublings = (sizeDraw >>> 13) % 12;
    const rateDraw = draw(6);
    const oddCents = (rateDraw >>> 16) & ((1 << doublings) - 1);
    const originalCents = ((8_000 + (sizeDraw % 8_000)) << doublings) + oddCents;
    const monthlyRate = (120 + (rateDraw % 160)) / 10_000;
    const discountCents = Math.round((originalCents * monthlyRate * termDays) / 30);
    const platformCents = Math.floor(discountCents / 5);
    const buyerCents = Math.floor(discountCents / 10);
    const restatedCents = isRestated ? 1 + (draw(7) % 97) : 0;
    const financialCents = discountCents - platformCents - buyerCents + restatedCents;

    const style = draw(8);
    const gaps = draw(9) % 400;
    const billingFee = gaps < 8 ? '' : `"billingFee":${toAmount(draw(10) % 500, style)},`;
    const transferFee = gaps < 16 && gaps >= 8 ? 'null' : toAmount((draw(11) % 3) * 435, style);
    const commission =
      gaps < 24 && gaps >= 16 ? '' : `"platformCommission":"${toAmount(platformCents >> 2, 0)}",`;

    const uid = orderUid(day, index);
    const document = this.#hasDocuments ? `,"documentNumber":"${invoiceOf(uid)}"` : '';

    return `{"order":{"uid":"${uid}"},"financialAgent":${gaps === 399 ? 'null' : agent},"buyerIdentification":"${buyer.identification}","providerExternalId":"${provider.externalId}","platformDiscountedValue":${toAmount(platformCents, style)},"financialDiscountedValue":${toAmount(financialCents, style)},"buyerDiscountedValue":${toAmount(buyerCents, style)},${billingFee}"moneyTransferFee":${transferFee},"originalValue":${toAmount(originalCents, style)},"anticipatedDueDate":"${dueDate}","acceptedDate":"${day.acceptedDate}",${commission}"provider":${provider.provider}${document}}`;
  }
}

/** Returns 32 bits for one title, independent for each slot and equal at every age of the day. */
function drawFor(day: DayText, index: number, slot: number): number {
  const titleBits = mixBits(day.laneA + Math.imul(index, GOLDEN_RATIO));
  return mixBits(titleBits ^ (day.laneB + Math.imul(slot, GOLDEN_RATIO)));
}

/**
 * Returns the number of the title with this content: the title's number, or for a duplicate an earlier number.
 */
function originalOf(day: DayText, index: number): number {
  let original = index;
  while (original > 0) {
    const draw = drawFor(day, original, 12);
    if (draw % 100 >= DUPLICATES_PERCENT) break;
    original -= 1 + ((draw >>> 8) % Math.min(original, 16));
  }
  return original;
}

/** Distinct for every title: 32 bits are a bijection of its number, and the others distinguish the days. */
function orderUid(day: DayText, index: number): string {
  const own = mixBits(day.laneA + Math.imul(index, GOLDEN_RATIO));
  const other = mixBits(day.laneB ^ mixBits(own + day.laneB));
  const [first, second, lanes] = [hex(own), hex(other), hex(day.laneA) + hex(day.laneB)];
  return `${first}-${second.slice(0, 4)}-4${second.slice(5)}-a${lanes.slice(1, 4)}-${lanes.slice(4)}`;
}

function hex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, '0');
}

/**
 * Writes JSON numbers in the notations of several writers, always the same for one title: usually
 * `1234.50`, often `1234.5` or `1234`, seldom `123450e-2`.
 */
function toAmount(cents: number, style: number): string {
  const choice = style & 63;
  if (choice < 52) return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
  return choice < 63 ? String(cents / 100) : `${cents}e-2`;
}
