import { canonicalFields, type Title, VALUE_COLUMNS, type ValueColumn } from '../title.ts';
import type { StatedAccount } from './bank-account.ts';
import { destinationIn, type PartyKind } from './destination.ts';

/** A party and a bank account as a title names them, not trimmed. Personal data. */
export interface NamedAccount extends StatedAccount {
  readonly kind: PartyKind;
  /** Of a provider. */
  readonly externalId: string | null;
  readonly identification: string | null;
}

/**
 * By kind of party, the first and the last of consecutive columns that include the party and its account.
 * The text of such a run is compared in one piece.
 */
export const PARTY_RUNS = {
  provider: ['provider_external_id', 'provider_account_digit'],
  financial_agent: ['financial_agent_identification', 'payment_account_digit'],
} as const satisfies Record<PartyKind, readonly [ValueColumn, ValueColumn]>;

const runColumns = (kind: PartyKind): readonly ValueColumn[] => {
  const [first, last] = PARTY_RUNS[kind];
  return VALUE_COLUMNS.slice(VALUE_COLUMNS.indexOf(first), VALUE_COLUMNS.indexOf(last) + 1);
};
const RUN_COLUMNS = {
  provider: runColumns('provider'),
  financial_agent: runColumns('financial_agent'),
};

/** The size of all texts together. Beyond it, the accounts are read from the titles in the database. */
const MAX_BYTES = 4 * 1024 * 1024;

const KINDS = ['provider', 'financial_agent'] as const satisfies readonly PartyKind[];

/**
 * Collects the accounts that the titles of a response name, each once.
 * Most responses name far fewer accounts than titles. For other responses, the collection is given up.
 */
export class NamedAccounts {
  readonly #texts = { provider: new Set<string>(), financial_agent: new Set<string>() };
  #bytes = 0;

  addTitle(title: Title): void {
    for (const kind of KINDS) {
      const destination = destinationIn(title.extra, kind);
      // The fields of the run end with U+0000, so that what follows is a field of its own.
      const added = destination === null ? '' : JSON.stringify(destination);
      const run = canonicalFields(title, RUN_COLUMNS[kind]) + added;
      this.add(kind, Buffer.from(run).toString('latin1'));
    }
  }

  /** @param run the bytes of a run's columns as `canonicalFields` has them, each as a character */
  add(kind: PartyKind, run: string): void {
    const texts = this.#texts[kind];
    if (texts.has(run) || this.#bytes > MAX_BYTES) return;
    texts.add(run);
    this.#bytes += run.length;
  }

  /**
   * The accounts; null: there are too many, and the collection was given up.
   */
  list(): NamedAccount[] | null {
    if (this.#bytes > MAX_BYTES) return null;
    return KINDS.flatMap((kind) => [...this.#texts[kind]].map((run) => toAccount(kind, run)));
  }
}

/** The place of each text in the run of a kind; null: the kind has no such text. */
function placesOf(kind: PartyKind, externalId: ValueColumn | null, prefix: 'provider' | 'payment') {
  const place = (column: ValueColumn) => RUN_COLUMNS[kind].indexOf(column);
  const identification: ValueColumn = `${kind}_identification`;
  return {
    externalId: externalId === null ? null : place(externalId),
    identification: place(identification),
    bank: place(`${prefix}_bank`),
    agency: place(`${prefix}_agency`),
    agencyDigit: place(`${prefix}_agency_digit`),
    account: place(`${prefix}_account`),
    accountDigit: place(`${prefix}_account_digit`),
  };
}
const PLACES = {
  provider: placesOf('provider', 'provider_external_id', 'provider'),
  financial_agent: placesOf('financial_agent', null, 'payment'),
};

function toAccount(kind: PartyKind, run: string): NamedAccount {
  const fields = Buffer.from(run, 'latin1').toString().split('\u0000');
  const places = PLACES[kind];
  const added = fields[RUN_COLUMNS[kind].length] ?? '';
  const value = (place: number | null): string | null =>
    place === null || fields[place] === '' ? null : (fields[place]?.slice(1) ?? null);
  return {
    kind,
    externalId: value(places.externalId),
    identification: value(places.identification),
    bank: value(places.bank),
    agency: value(places.agency),
    agencyDigit: value(places.agencyDigit),
    account: value(places.account),
    accountDigit: value(places.accountDigit),
    destination: added === '' ? null : JSON.parse(added),
  };
}
