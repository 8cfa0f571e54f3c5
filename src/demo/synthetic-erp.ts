import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, type CivilDate } from '../base/values/business-day.ts';
import { hashText } from './seeded-random.ts';
import { invoiceOf } from './synthetic-titles.ts';

export interface SyntheticErp {
  stop(): Promise<void>;
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
}): SyntheticErp {
  const stopping = new AbortController();
  const { signal } = stopping;
  const ask = async (path: string, body?: object): Promise<unknown> => {
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
  const post = async () => {
    const { lines, next } = (await ask(
      `/api/bookings?after=${position}&limit=${LINES_AT_ONCE}`,
    )) as Page;
    if (lines.length > 0) {
      await ask('/api/bookings/receipts', { receipts: lines.map(receiptOf) });
    }
    position = next;
  };
  const run = async () => {
    while (!signal.aborted) {
      await post().catch(() => undefined);
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    stop() {
      stopping.abort();
      return running;
    },
  };
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
