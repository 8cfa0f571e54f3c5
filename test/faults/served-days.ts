import { createHash } from 'node:crypto';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import { pick, type SeededRandom } from '../../src/demo/synthetic-titles.ts';
import type { Sandbox } from '../support/sandbox/sandbox.ts';

interface DayVersion {
  readonly titles: readonly PlatformTitle[];
  readonly digest: string;
}

/** Everything that the platform ever answered, date by date: what the checker compares with. */
export class ServedDays {
  readonly #sandbox: Sandbox;
  readonly #random: SeededRandom;
  readonly #versions = new Map<string, DayVersion[]>();
  /** Of the title that was made last. */
  #number = 0;

  constructor(sandbox: Sandbox, random: SeededRandom) {
    this.#sandbox = sandbox;
    this.#random = random;
  }

  get dates(): CivilDate[] {
    return [...this.#versions.keys()].sort() as CivilDate[];
  }

  /**
   * From now on the date is answered with so many new titles.
   *
   * @param parties begins the identifiers of providers and agents
   */
  begin(date: CivilDate, titleCount: number, parties = ''): void {
    const titles = Array.from({ length: titleCount }, () =>
      createTitle(this.#random, { date, parties }, ++this.#number),
    );
    this.#versions.set(date, []);
    this.#serve(date, titles);
  }

  /** From now on the date is answered with something else. */
  restate(date: CivilDate): void {
    const versions = this.#versions.get(date) ?? [];
    const current = versions.at(-1)?.titles ?? [];
    const served = new Set(current.map(({ json }) => json));
    const gone = versions.flatMap(({ titles }) => titles).filter(({ json }) => !served.has(json));
    this.#serve(date, restateTitles(this.#random, current, gone, ++this.#number));
  }

  latest(date: CivilDate): DayVersion {
    const version = this.#versions.get(date)?.at(-1);
    if (version === undefined) throw new RangeError(`nothing is served for ${date}`);
    return version;
  }

  /** Which of the date's answers this is, from 0; -1: none of them. */
  versionOf(date: string, digest: string): number {
    return (this.#versions.get(date) ?? []).findIndex((version) => version.digest === digest);
  }

  #serve(date: CivilDate, titles: readonly PlatformTitle[]): void {
    const version = { titles, digest: digestOf(titles.map(({ row }) => row)) };
    // Known before it can be asked for: a reader may see it merged the moment after.
    this.#versions.set(date, [...(this.#versions.get(date) ?? []), version]);
    this.#sandbox.setDayTexts(
      date,
      titles.map(({ json }) => json),
    );
  }
}

/**
 * The expected row of a title of the platform, computed a second time and by other means than the
 * product's: as the JSON text that is served, and as the text of the row that must stand in the table,
 * digit for digit.
 */
interface PlatformTitle {
  readonly json: string;
  readonly row: string;
  /** The fields that `restate` changes to make another title. */
  readonly fields: TitleFields;
}

interface TitleFields {
  readonly date: string;
  readonly number: number;
  /** Begins the identifiers of provider and agent: dates with different ones have no party in common. */
  readonly parties: string;
  readonly dueDate: string | null;
  readonly originalValue: string;
  readonly discount: string;
  readonly fee: string | null;
  readonly note: string | null;
}

export const AMOUNTS = [
  'original_value',
  'platform_discounted_value',
  'financial_discounted_value',
  'buyer_discounted_value',
  'billing_fee',
  'money_transfer_fee',
] as const;

/** The columns of `conciliation.title` that the platform decides, in the order of `row`. */
export const ROW_COLUMNS: readonly string[] = [
  ...'order_uid accepted_date anticipated_due_date buyer_identification provider_external_id'.split(
    ' ',
  ),
  ...'provider_identification provider_bank provider_account financial_agent_identification'.split(
    ' ',
  ),
  ...'financial_agent_name buyer_is_financial payment_account'.split(' '),
  ...[...AMOUNTS, 'platform_commission', 'extra'],
];

const NULL = '~';
const SEPARATOR = '|';

/** SQL for the text of a row as `PlatformTitle.row` has it. */
export function rowSql(alias: string): string {
  const columns = ROW_COLUMNS.map((name) => `coalesce(${alias}.${name}::text, '${NULL}')`);
  return `concat_ws('${SEPARATOR}', ${columns.join(', ')})`;
}

export function rowText(columns: Readonly<Record<string, string | null>>): string {
  return ROW_COLUMNS.map((name) => columns[name] ?? NULL).join(SEPARATOR);
}

/** SQL over `row`, as `digestOf` computes it. */
export const DIGEST_SQL = `md5(coalesce(string_agg(row, E'\\n' ORDER BY row COLLATE "C"), ''))`;

/** The same for the same multiset of rows; ASCII throughout, so both sides sort alike. */
export function digestOf(rows: readonly string[]): string {
  return createHash('md5')
    .update([...rows].sort().join('\n'))
    .digest('hex');
}

function createTitle(
  random: SeededRandom,
  { date, parties }: Pick<TitleFields, 'date' | 'parties'>,
  number: number,
): PlatformTitle {
  return render({
    date,
    number,
    parties,
    dueDate: random(6) === 0 ? null : `2031-0${1 + random(9)}-${10 + random(18)}`,
    originalValue: amount(random),
    discount: amount(random),
    fee: random(3) === 0 ? null : amount(random),
    note: random(5) === 0 ? `kanari note ${number}` : null,
  });
}

/**
 * A later answer for the same date: at least one title has another discount; others vanish, come back,
 * get another value (and with it another identity) or a twin, new ones appear, and all change places.
 */
function restateTitles(
  random: SeededRandom,
  titles: readonly PlatformTitle[],
  gone: readonly PlatformTitle[],
  nextNumber: number,
): PlatformTitle[] {
  const next = [...titles];
  const change = (fields: (title: PlatformTitle) => Partial<TitleFields>) => {
    const at = random(next.length);
    const title = next[at];
    if (title !== undefined) next[at] = render({ ...title.fields, ...fields(title) });
  };
  if (next.length > 1 && random(2) === 0) next.splice(random(next.length), 1);
  if (random(2) === 0) change(() => ({ originalValue: `${1 + random(1_000_000_000)}.50` }));
  // With a documented field: a difference in an undocumented field alone changes nothing.
  if (random(2) === 0) {
    change(() => ({ note: `kanari note ${random(1_000_000)}`, discount: newDiscount(random) }));
  }
  const back = gone[random(Math.max(1, gone.length))];
  if (back !== undefined && random(2) === 0) next.push(back);
  const twin = next[random(next.length)];
  if (twin !== undefined && random(3) === 0) next.push(twin);
  const like = titles[0]?.fields;
  if (like !== undefined && random(2) === 0) next.push(createTitle(random, like, nextNumber));
  // Last, so that no two versions of a date are ever equal.
  change(() => ({ discount: newDiscount(random) }));
  for (let at = next.length - 1; at > 0; at -= 1) {
    const other = random(at + 1);
    const [one, two] = [next[at], next[other]];
    if (one !== undefined && two !== undefined) [next[at], next[other]] = [two, one];
  }
  return next;
}

/** Drawn from so many that no title has the same one twice. */
function newDiscount(random: SeededRandom): string {
  return `${random(1_000_000_000)}.${1_000_000 + random(8_000_000)}`;
}

/** Digits that no binary floating-point number holds, and zeros at the end that must stay. */
function amount(random: SeededRandom): string {
  const whole = pick(['0', '7', '1234', '90071992547409931', '100000000000000000000'], random(5));
  const scale = random(8);
  if (scale === 0) return whole;
  const digits = String(random(10 ** scale)).padStart(scale, '0');
  return `${whole}.${digits}`;
}

function render(fields: TitleFields): PlatformTitle {
  const { date, number, parties, dueDate, originalValue, discount, fee, note } = fields;
  const [uid, provider] = [`O-${date}-${number}`, `${parties}P-${number % 3}`];
  const buyer = '11144477735';
  const [agent, supplier] = [`${parties}98765432000198`, `${parties}11444777000161`];
  const mark = `kanari ${date} ${number}`;
  // Several accounts to a party, so that there are changes, but no new one with every title.
  const [account, payment] = [`kanari account ${number % 5}`, `kanari payment ${number % 2}`];
  const json =
    `{"order":{"uid":"${uid}"},"acceptedDate":"${date}","originalValue":${originalValue},` +
    `"platformDiscountedValue":${discount},"financialDiscountedValue":0.10,` +
    `"moneyTransferFee":${fee},${dueDate === null ? '' : `"anticipatedDueDate":"${dueDate}",`}` +
    `"financialAgent":{"type":"INDIVIDUAL","identificationNumber":"${agent}","name":"${mark} name",` +
    `"buyerIsFinancial":${number % 2 === 0},"payment":{"type":"BANK_TRANSFER","account":"${payment}"}},` +
    `"buyerIdentification":"${buyer}","providerExternalId":"${provider}","platformCommission":"0.50%",` +
    `"provider":{"identification":"${supplier}","externalId":"${provider}",` +
    `"bankAccount":{"bank":"341","account":"${account}"}}` +
    `${note === null ? '' : `,"note":"${note}"`}}`;
  const row = rowText({
    order_uid: uid,
    accepted_date: date,
    anticipated_due_date: dueDate,
    buyer_identification: buyer,
    provider_external_id: provider,
    provider_identification: supplier,
    provider_bank: '341',
    provider_account: account,
    financial_agent_identification: agent,
    financial_agent_name: `${mark} name`,
    buyer_is_financial: String(number % 2 === 0),
    payment_account: payment,
    original_value: originalValue,
    platform_discounted_value: discount,
    financial_discounted_value: '0.10',
    money_transfer_fee: fee,
    platform_commission: '0.50%',
    extra: note === null ? null : `{"note": "${note}"}`,
  });
  return { json, row, fields };
}
