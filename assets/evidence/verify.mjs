/**
 * Verifies the evidence file of a month: node verify.mjs [en|pt]
 *
 * Needs Node.js 20 or newer and the files beside this one, and neither a package nor a network.
 * Recomputes the hash of each title, the digest and the sums of each day, the totals and the digest of
 * the month. Exit status: 0 everything agrees, 1 something does not.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = dirname(fileURLToPath(import.meta.url));
const FORMAT = 'erp-conciliation-sync month evidence 1';
const FIXED_FILES = ['README.md', 'LEIA-ME.md', 'verify.mjs', 'summary.html', 'month.json'];
/** Titles of a day that are named before the rest is only counted. */
const TITLES_NAMED = 5;

const AMOUNTS = [
  'original_value',
  'platform_discounted_value',
  'financial_discounted_value',
  'buyer_discounted_value',
  'billing_fee',
  'money_transfer_fee',
];
/**
 * The columns of a content hash. Listed here, because no digest covers the list in `month.json`:
 * with two columns changed about in that list, changed titles would have their recorded hashes.
 */
const CONTENT_COLUMNS = [
  'order_uid',
  'accepted_date',
  'anticipated_due_date',
  'buyer_identification',
  'provider_external_id',
  'original_value',
  'provider_identification',
  'provider_bank',
  'provider_agency',
  'provider_agency_digit',
  'provider_account',
  'provider_account_digit',
  'financial_agent_type',
  'financial_agent_identification',
  'financial_agent_name',
  'buyer_is_financial',
  'payment_type',
  'payment_bank',
  'payment_agency',
  'payment_agency_digit',
  'payment_account',
  'payment_account_digit',
  ...AMOUNTS.filter((name) => name !== 'original_value'),
  'platform_commission',
];
/** The columns of the titles. No digest covers the list in `month.json`. */
const TITLE_COLUMNS = [
  'id',
  'occurrence',
  ...CONTENT_COLUMNS,
  'more_content',
  'content_hash',
  'is_erased',
];
/** The columns that hold a pseudonym after the personal data of a party was erased. */
const PARTY_NAMES = [
  'provider_external_id',
  'provider_identification',
  'financial_agent_identification',
  'financial_agent_name',
];
const SUMS = AMOUNTS.map((name) => `${name}_sum`);
const COUNTS = ['title_count', 'withdrawn_count', 'rejected_count'];
const SEAL_FIELDS = [
  'date',
  'id',
  'signed_off_at',
  'signed_off_by',
  'reason',
  'fence',
  'content_digest',
  ...COUNTS,
  ...SUMS,
];

const ENGLISH = {
  /** @param {string} name */
  missing: (name) => `${name}: the file is missing`,
  /** @param {string} name */
  unlisted: (name) => `${name}: the file is not listed in SHA256SUMS`,
  /** @param {string} name */
  changed: (name) => `${name}: the file was changed after it was made (SHA256SUMS)`,
  /** @param {number} count */
  files: (count) => `${count} files have the hashes of SHA256SUMS`,
  /** @param {string} date @param {string} name */
  title: (date, name) => `${date}: the content of ${name} does not have its recorded hash`,
  /** @param {string} date @param {number} count */
  moreTitles: (date, count) => `${date}: so do ${count} more titles`,
  /** @param {string} date @param {string} name */
  wrongDate: (date, name) => `${date}: ${name} belongs to another date`,
  /** @param {string} date @param {string} what @param {string} sealed @param {string} found */
  differs: (date, what, sealed, found) => `${date}: ${what}: sealed ${sealed}, recomputed ${found}`,
  /** @param {string} date @param {string} name */
  fields: (date, name) => `${date}: ${name} does not have each column once and nothing else`,
  titleColumns: 'the columns of the titles are not those of the program',
  /** @param {string} date */
  columns: (date) => `${date}: content_columns are not those of a content hash`,
  /** @param {string} date */
  csv: (date) => `${date}: the CSV file does not have the titles of the JSON lines`,
  /** @param {string} date @param {number} titles @param {string} sum */
  day: (date, titles, sum) => `${date}: ${titles} titles, original value ${sum}, digest agrees`,
  /** @param {string} date @param {number} count */
  erased: (date, count) =>
    `${date}: ${count} titles name a party whose personal data was erased. Their recorded hashes were used; their content cannot be recomputed.`,
  /** @param {string} dates */
  calendar: (dates) => `the days are not every day up to the end of the month: ${dates}`,
  signOffs: 'the seal of the month and the seals of the days differ in number',
  /** @param {string} month @param {string} what @param {string} sealed @param {string} found */
  month: (month, what, sealed, found) => `${month}: ${what}: sealed ${sealed}, recomputed ${found}`,
  /** @param {string} month @param {number} days */
  monthAgrees: (month, days) => `${month}: ${days} days, totals and digest of the month agree`,
  /** @param {string} dates */
  broken: (dates) => `When the file was made, the seal no longer held because of ${dates}.`,
  /** @param {string} message */
  unreadable: (message) => `the files cannot be read: ${message}`,
  digest: 'Digest of the month',
  head: 'Head of the audit log',
  compare:
    'Compare both with a record that was kept elsewhere: a person who rewrites all files can also rewrite the digest. The numbers of withdrawn and rejected titles, the persons and the times are covered by the digest of the month; the titles do not prove them.',
  good: 'Everything agrees.',
  /** @param {number} count */
  goodExcept: (count) =>
    `Everything that can be recomputed agrees. The content of ${count} ${count === 1 ? 'title' : 'titles'} cannot be.`,
  /** @param {number} count */
  bad: (count) => `${count} ${count === 1 ? 'difference' : 'differences'}.`,
};

/** @type {typeof ENGLISH} */
const PORTUGUESE = {
  missing: (name) => `${name}: o arquivo não existe`,
  unlisted: (name) => `${name}: o arquivo não consta em SHA256SUMS`,
  changed: (name) => `${name}: o arquivo foi alterado depois de gerado (SHA256SUMS)`,
  files: (count) => `${count} arquivos têm os códigos de SHA256SUMS`,
  title: (date, name) => `${date}: o conteúdo de ${name} não corresponde ao código registrado`,
  moreTitles: (date, count) => `${date}: o mesmo vale para mais ${count} títulos`,
  wrongDate: (date, name) => `${date}: ${name} pertence a outra data`,
  differs: (date, what, sealed, found) =>
    `${date}: ${what}: fechado ${sealed}, recalculado ${found}`,
  fields: (date, name) => `${date}: ${name} não tem cada coluna uma única vez, e nada mais`,
  titleColumns: 'as colunas dos títulos não são as do programa',
  columns: (date) => `${date}: content_columns não são as colunas de um código de título`,
  csv: (date) => `${date}: o arquivo CSV não tem os títulos do arquivo JSON`,
  day: (date, titles, sum) =>
    `${date}: ${titles} títulos, valor original ${sum}, código de integridade confere`,
  erased: (date, count) =>
    `${date}: ${count} títulos citam uma parte cujos dados pessoais foram eliminados. Foram usados os códigos registrados; o conteúdo não pode ser recalculado.`,
  calendar: (dates) => `os dias não são todos até o fim do mês: ${dates}`,
  signOffs: 'o fechamento do mês e os selos dos dias diferem em quantidade',
  month: (month, what, sealed, found) =>
    `${month}: ${what}: fechado ${sealed}, recalculado ${found}`,
  monthAgrees: (month, days) =>
    `${month}: ${days} dias; os totais e o código de integridade do mês conferem`,
  broken: (dates) =>
    `Quando o arquivo foi gerado, o fechamento não valia mais por causa de ${dates}.`,
  unreadable: (message) => `os arquivos não podem ser lidos: ${message}`,
  digest: 'Código de integridade do mês',
  head: 'Último elo da auditoria',
  compare:
    'Compare os dois com um registro guardado em outro lugar: quem altera todos os arquivos também pode alterar o código. As quantidades de títulos retirados e rejeitados, as pessoas e os horários estão no código do mês; os títulos não os comprovam.',
  good: 'Tudo confere.',
  goodExcept: (count) =>
    `Tudo o que pode ser recalculado confere. O conteúdo de ${count} ${count === 1 ? 'título' : 'títulos'} não pode.`,
  bad: (count) => `${count} ${count === 1 ? 'divergência' : 'divergências'}.`,
};

const wanted = process.argv[2] ?? Intl.DateTimeFormat().resolvedOptions().locale;
const text = wanted.startsWith('pt') ? PORTUGUESE : ENGLISH;

let differences = 0;
/** Titles whose content cannot be recomputed. */
let unproven = 0;
/** @param {string} line */
const print = (line) => process.stdout.write(`${line}\n`);
/** @param {string} line */
const fail = (line) => {
  differences += 1;
  print(`✗ ${line}`);
};
/** @param {string} line */
const pass = (line) => print(`✓ ${line}`);

/** @param {string} name */
const pathOf = (name) => join(FOLDER, name);

/** @param {string} name @returns {Promise<string>} */
async function hashOfFile(name) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(pathOf(name))) hash.update(chunk);
  return hash.digest('hex');
}

/** The lines of a text file. @param {string} name */
async function* linesOf(name) {
  let rest = '';
  for await (const chunk of createReadStream(pathOf(name), 'utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** An exact decimal as its digits without a point, and the number of digits after the point. */
class Sum {
  units = 0n;
  scale = 0;

  /** @param {string} decimal */
  add(decimal) {
    if (!/^-?\d+(\.\d+)?$/.test(decimal)) throw new Error(`not a decimal: ${decimal}`);
    const fraction = decimal.split('.')[1] ?? '';
    const scale = Math.max(this.scale, fraction.length);
    this.units =
      this.units * 10n ** BigInt(scale - this.scale) +
      BigInt(decimal.replace('.', '')) * 10n ** BigInt(scale - fraction.length);
    this.scale = scale;
  }

  toString() {
    const sign = this.units < 0n ? '-' : '';
    const digits = String(this.units < 0n ? -this.units : this.units).padStart(this.scale + 1, '0');
    const cut = digits.length - this.scale;
    return plain(`${sign}${digits.slice(0, cut)}${this.scale > 0 ? `.${digits.slice(cut)}` : ''}`);
  }
}

/** A decimal without needless zeros after the point. @param {string} decimal */
function plain(decimal) {
  return decimal.includes('.') ? decimal.replace(/0+$/, '').replace(/\.$/, '') : decimal;
}

/** The first 128 bits of SHA-256 over the columns: docs of the program, "What was signed off". */
/** @param {Record<string, unknown>} title @param {string[]} columns */
function contentHash(title, columns) {
  let content = '';
  for (const column of columns) {
    const value = title[column];
    if (value === undefined) throw new Error(`a title has no ${column}`);
    const written = AMOUNTS.includes(column) && value !== null ? plain(String(value)) : value;
    content += written === null ? '\u0000' : `=${written}\u0000`;
  }
  for (const more of JSON.parse(String(title['more_content'] ?? '[]'))) content += `${more}\u0000`;
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}

/** Whether a title names an erased party. @param {Record<string, unknown>} title */
function isErased(title) {
  return (
    title['is_erased'] === true &&
    PARTY_NAMES.some((column) => /^erased-\d+$/.test(String(title[column])))
  );
}

const FORMULA = /^(?:'*[\t\r\n]|[\s\p{Cc}"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/u;

/** Text that Excel would turn into a number or a date, and with it change an identifier. */
const VALUE_LIKE =
  /^(?=.*\d)(?:(?:[\d.,:/%()$€ \u00A0-]|R\$)+(?:e[+-]?\d+[ )]*)?|\d{0,4}[ /-]?(?:jan|fe[bv]|mar|a[bp]r|ma[iy]|ju[nl]|a[gu][og]|se[tp]|o[cu]t|nov|de[cz])\p{L}*[ /-]?\d{0,4})$/iu;

/** The cell of the CSV file. @param {string} column @param {unknown} value */
function cellOf(column, value) {
  if (value === null) return '';
  const cell = String(value);
  const isPlain = /^-?\d+(?:\.\d+)?$/.test(cell);
  if (AMOUNTS.includes(column) || (column === 'platform_commission' && isPlain)) {
    return cell.replace('.', ',');
  }
  if (column.endsWith('_date')) return cell.split('-').reverse().join('/');
  if (typeof value !== 'string') return cell;
  if (column !== 'platform_commission' && VALUE_LIKE.test(cell)) return `"=""${cell}"""`;
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return safe === '' || /[";,\t\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

async function checkFiles() {
  const listed = new Map();
  for (const line of readFileSync(pathOf('SHA256SUMS'), 'utf8').split('\n')) {
    const [, hash, name] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (name !== undefined) listed.set(name, hash);
  }
  const present = existsSync(pathOf('titles'))
    ? readdirSync(pathOf('titles')).map((name) => `titles/${name}`)
    : [];
  for (const name of new Set([...FIXED_FILES, ...present])) {
    if (!listed.has(name)) fail(text.unlisted(name));
  }
  let good = 0;
  for (const [name, hash] of listed) {
    if (!existsSync(pathOf(name))) fail(text.missing(name));
    else if ((await hashOfFile(name)) !== hash) fail(text.changed(name));
    else good += 1;
  }
  if (good === listed.size) pass(text.files(good));
}

/** @param {any} day @param {string[]} columns */
async function checkDay(day, columns) {
  const { date } = day;
  const before = differences;
  const sums = AMOUNTS.map(() => new Sum());
  /** @type {string[]} */
  const hashes = [];
  const csv = createHash('sha256').update(`\uFEFF${columns.join(';')}\r\n`);
  let wrong = 0;
  let erased = 0;
  if (day.content_columns.join() !== CONTENT_COLUMNS.join()) return fail(text.columns(date));
  for await (const line of linesOf(`titles/${date}.jsonl`)) {
    const title = JSON.parse(line);
    const name = `${title.order_uid} (id ${title.id})`;
    // A field that is there twice is there once in the parsed title.
    if (Object.keys(title).join() !== columns.join() || JSON.stringify(title) !== line) {
      fail(text.fields(date, name));
    }
    csv.update(`${columns.map((column) => cellOf(column, title[column])).join(';')}\r\n`);
    if (title.accepted_date !== date) fail(text.wrongDate(date, name));
    if (!/^[0-9a-f]{32}$/.test(title.content_hash)) throw new Error(`not a hash: ${name}`);
    const computed = contentHash(title, CONTENT_COLUMNS);
    const isUnproven = computed !== title.content_hash && isErased(title);
    if (isUnproven) {
      erased += 1;
    } else if (computed !== title.content_hash) {
      wrong += 1;
      if (wrong <= TITLES_NAMED) fail(text.title(date, name));
    }
    hashes.push(isUnproven ? title.content_hash : computed);
    for (const [index, column] of AMOUNTS.entries()) {
      if (title[column] !== null) sums[index]?.add(title[column]);
    }
  }
  if (wrong > TITLES_NAMED) fail(text.moreTitles(date, wrong - TITLES_NAMED));
  /** @param {string} what @param {string} sealed @param {string} found */
  const compare = (what, sealed, found) => {
    if (sealed !== found) fail(text.differs(date, what, sealed, found));
  };
  const digest = createHash('sha256');
  for (const hash of hashes.sort()) digest.update(hash, 'hex');
  compare('title_count', day.title_count, String(hashes.length));
  for (const [index, name] of SUMS.entries()) compare(name, plain(day[name]), String(sums[index]));
  compare('content_digest', day.content_digest, digest.digest('hex'));
  if (csv.digest('hex') !== (await hashOfFile(`titles/${date}.csv`))) {
    fail(text.csv(date));
  }
  unproven += erased;
  if (erased > 0) print(`! ${text.erased(date, erased)}`);
  if (differences === before) pass(text.day(date, hashes.length, String(sums[0])));
}

/** @param {any} evidence */
function checkMonth({ seal, days }) {
  const before = differences;
  const { month } = seal;
  const dates = days.map((/** @type {{ date: string }} */ day) => day.date);
  const [year = 0, number = 0] = month.split('-').map(Number);
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const first = Number((dates[0] ?? '').slice(8));
  const expected = Array.from(
    { length: Math.max(0, last - first + 1) },
    (_, index) => `${month}-${String(first + index).padStart(2, '0')}`,
  );
  if (dates.length === 0 || dates.join() !== expected.join()) fail(text.calendar(dates.join(', ')));
  if (seal.days !== days.length) fail(text.signOffs);
  for (const name of [...COUNTS, ...SUMS]) {
    const sum = new Sum();
    for (const day of days) sum.add(day[name]);
    const sealed = plain(seal.totals[name]);
    if (sealed !== String(sum)) fail(text.month(month, name, sealed, String(sum)));
  }
  const hash = createHash('sha256');
  const values = days.flatMap((/** @type {Record<string, string | null>} */ day) =>
    SEAL_FIELDS.map((field) => day[field] ?? null),
  );
  for (const value of ['month seal 1', month, ...values]) {
    hash.update(value === null ? '-\n' : `${Buffer.byteLength(value)}:${value}\n`);
  }
  const digest = hash.digest('hex');
  if (digest !== seal.digest) fail(text.month(month, 'digest', seal.digest, digest));
  if (differences === before) pass(text.monthAgrees(month, days.length));
}

try {
  const evidence = JSON.parse(readFileSync(pathOf('month.json'), 'utf8'));
  if (evidence.format !== FORMAT) throw new Error(`month.json: format ${evidence.format}`);
  await checkFiles();
  if (evidence.columns.toSorted().join() !== TITLE_COLUMNS.toSorted().join())
    fail(text.titleColumns);
  for (const day of evidence.days) await checkDay(day, evidence.columns);
  checkMonth(evidence);
  const broken = evidence.broken.map((/** @type {{ date: string }} */ day) => day.date);
  if (broken.length > 0) print(`! ${text.broken(broken.join(', '))}`);
  print(`\n${text.digest}: ${evidence.seal.digest}`);
  const head = evidence.auditHead;
  if (head !== null) print(`${text.head}: ${head.position}:${head.hash}`);
  print(text.compare);
} catch (error) {
  fail(text.unreadable(error instanceof Error ? error.message : String(error)));
}
const good = unproven === 0 ? text.good : text.goodExcept(unproven);
print(`\n${differences === 0 ? good : text.bad(differences)}`);
process.exitCode = differences === 0 ? 0 : 1;
