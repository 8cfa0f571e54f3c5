/**
 * An ERP that posts the lines of the booking feed as docs/bookings.md describes. It shares no code with src.
 * Its state is one value, which a commit replaces: a killed ERP keeps the state of its last commit, and an ERP that
 * is restored from a backup gets an older one.
 */

/** A line of the feed, as the API gives it. */
export interface FeedLine {
  readonly seq: string;
  readonly key: string;
  readonly succeedsKey: string | null;
  readonly kind: string;
  readonly contentHash: string;
  readonly title: Readonly<Record<string, unknown>>;
}

export interface ErpReceipt {
  readonly idempotencyKey: string;
  readonly key: string;
  readonly contentHash: string;
  readonly status: 'posted' | 'failed';
  readonly document: string | null;
  readonly reason: string | null;
}

interface Booking {
  /** The greatest version that was posted. */
  version: number;
  /** The booked content; null: none. */
  content: string | null;
}

interface State {
  cursor: string;
  /** By the key without its version. */
  bookings: Record<string, Booking>;
  receipts: ErpReceipt[];
  /** The number of receipts that were sent. */
  sent: number;
}

/** The parts of the program that the ERP can use. */
export interface Link {
  /** Rejects with the fault `lost_position` and a position `safe` when the feed does not have the cursor. */
  read(after: string, limit: number): Promise<{ lines: readonly FeedLine[]; next: string }>;
  send(receipts: readonly ErpReceipt[]): Promise<unknown>;
}

/** The lines of a page and the receipts of a request. */
const DOCUMENTED = 1_000;

const IDENTITY = [
  'order_uid',
  'buyer_identification',
  'provider_external_id',
  'anticipated_due_date',
  'original_value',
];
const BOOKED = [...IDENTITY, 'platform_discounted_value', 'financial_agent_identification'];
const pick = (title: FeedLine['title'], names: readonly string[]) =>
  JSON.stringify(names.map((name) => title[name] ?? null));

export class ModelErp {
  #state: State = { cursor: '0', bookings: {}, receipts: [], sent: 0 };
  /** Documents differ also after a restore. */
  #documents = 0;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  backup(): State {
    return structuredClone(this.#state);
  }

  restore(backup: State): void {
    this.#state = structuredClone(backup);
  }

  /** Every content that is booked, sorted. */
  ledger(): string[] {
    return Object.values(this.#state.bookings)
      .flatMap(({ content }) => content ?? [])
      .sort();
  }

  static contentOf(date: string, title: FeedLine['title']): string {
    return `${date} ${pick(title, BOOKED)}`;
  }

  /**
   * Reads a page and posts its lines in one commit, then sends the receipts.
   * @param failure the share of lines that cannot be posted this time
   * @param killedAt null: not killed
   * @returns the number of lines
   */
  async work(
    link: Link,
    { failure, killedAt }: { failure: number; killedAt: 'commit' | 'send' | 'sent' | null },
  ): Promise<number> {
    const limit = this.#random() < 0.5 ? DOCUMENTED : 1 + Math.floor(this.#random() * 20);
    let safe = '';
    const page = await link.read(this.#state.cursor, limit).catch((error: unknown) => {
      const context = (error as { context?: Record<string, unknown> }).context;
      if (context?.['fault'] !== 'lost_position') throw error;
      safe = String(context['safe']);
      return null;
    });
    if (page === null) {
      this.#state.cursor = safe;
      this.sendAgain();
      return 1;
    }
    const next = this.backup();
    for (const line of page.lines) this.#post(next, line, failure);
    next.cursor = page.next;
    if (killedAt === 'commit') return page.lines.length;
    this.#state = next;
    if (killedAt === 'send') return page.lines.length;
    for (let at = next.sent; at < next.receipts.length; at += DOCUMENTED) {
      await link.send(next.receipts.slice(at, at + DOCUMENTED));
    }
    if (killedAt === 'sent') return page.lines.length;
    next.sent = next.receipts.length;
    return page.lines.length;
  }

  /** The other side was restored: sends every receipt again. */
  sendAgain(): void {
    this.#state.sent = 0;
  }

  #post(state: State, line: FeedLine, failure: number): void {
    const at = line.key.lastIndexOf(':');
    const [name, version] = [line.key.slice(0, at), Number(line.key.slice(at + 1))];
    const booking = state.bookings[name];
    if (booking !== undefined && version <= booking.version) {
      // Posted already, perhaps with another content: the receipts of the booking say so.
      const own = state.receipts.filter(
        ({ key, status }) => status === 'posted' && key.startsWith(`${name}:`),
      );
      for (const receipt of new Map(own.map((each) => [each.key, each])).values()) {
        state.receipts.push({ ...receipt, idempotencyKey: this.#unique() });
      }
      return;
    }
    const answer = { idempotencyKey: this.#unique(), key: line.key, contentHash: line.contentHash };
    if (this.#random() < failure) {
      state.receipts.push({ ...answer, status: 'failed', document: null, reason: 'closed period' });
      return;
    }
    const date = line.key.slice(0, 10);
    const content = line.kind === 'reverse' ? null : ModelErp.contentOf(date, line.title);
    state.bookings[name] = { version, content };
    this.#documents += 1;
    const document = `D-${this.#documents}`;
    state.receipts.push({ ...answer, status: 'posted', document, reason: null });
  }

  #unique(): string {
    return `${this.#random()} ${this.#random()}`;
  }
}
