import { cnpj, cpf } from 'cpf-cnpj-validator';
import { createSeededRandom, pick, type SeededRandom } from './seeded-random.ts';

/**
 * The companies and people of the synthetic titles, encoded as JSON once for each seed: the same
 * few hundred occur every day. All are invented. Their tax identifiers have correct check digits
 * and may by chance be real ones.
 */
export interface SyntheticParties {
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

const BANKS = [
  '001',
  '033',
  '077',
  '104',
  '208',
  '237',
  '260',
  '336',
  '341',
  '748',
  '756',
] as const;
const GIVEN_NAMES = ['Antônio', 'Conceição', 'Érica', 'Fabrício', 'Inês', 'João', 'Luís', 'Márcia'];
const SURNAMES = ["d'Ávila", 'Araújo', 'Falcão', 'Gonçalves', 'Magalhães', 'Müller', 'Simões'];
const TRADES = [
  'Capital',
  'Crédito',
  'Fomento Mercantil',
  'Recebíveis',
  'Securitizadora',
  'Factoring',
];
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

export function createSyntheticParties(seed: string): SyntheticParties {
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
