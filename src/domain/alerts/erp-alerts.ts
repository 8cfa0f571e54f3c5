import type { CivilDate } from '../business-day.ts';
import type { Alert } from './alert.ts';
import { ANY_CAUSE, alertsByCause, countPt, dayPt, listDates, sumOf } from './dated-alerts.ts';

const HOUR_MS = 3_600_000;

export function bookingReceiptsAlerts(
  open: readonly { readonly date: CivilDate; readonly receipts: number }[],
): Alert[] {
  const dated = open.map((day) => ({ ...day, pullId: null }));
  return alertsByCause('booking_receipts', dated, ANY_CAUSE, ({ items, listed, listedPt }) => {
    const receipts = sumOf(items, (day) => day.receipts);
    const isOneDay = items.length === 1;
    return {
      message: `${receipts} ${receipts === 1 ? 'receipt' : 'receipts'} of the ERP for ${listed} ${receipts === 1 ? 'does' : 'do'} not fit the released lines; the ${isOneDay ? 'day is' : 'days are'} not released until a person decides`,
      messagePt: `${countPt(receipts, 'retorno do ERP', 'retornos do ERP')} de ${listedPt} não ${receipts === 1 ? 'confere' : 'conferem'} com os lançamentos liberados; ${isOneDay ? 'o dia só é liberado' : 'os dias só são liberados'} depois de uma decisão`,
    };
  });
}

export function unbookedChangeAlerts(changes: readonly { readonly date: CivilDate }[]): Alert[] {
  const dated = changes.map(({ date }) => ({ date, pullId: null }));
  return alertsByCause(
    'booking_waiting',
    dated,
    () => 'difference',
    ({ items, listed, listedPt }) => ({
      message: `${listed} ${items.length === 1 ? 'is' : 'are'} before BOOKINGS_FROM and signed off again with another content; the ERP lacks the difference`,
      messagePt: `${listedPt}: ${items.length === 1 ? 'dia anterior' : 'dias anteriores'} a BOOKINGS_FROM, ${items.length === 1 ? 'fechado' : 'fechados'} de novo com outro conteúdo; falta contabilizar a diferença no ERP`,
    }),
  );
}

export function failedLinesAlert(failed: {
  readonly lines: number;
  /** The smallest accepted date of them. */
  readonly date: CivilDate;
}): Alert {
  const { lines, date } = failed;
  return {
    kind: 'booking_failed',
    dedupeKey: 'booking_failed',
    message: `the ERP could not post ${lines} booking ${lines === 1 ? 'line' : 'lines'}, the oldest for ${date}`,
    messagePt: `o ERP não conseguiu contabilizar ${countPt(lines, 'lançamento', 'lançamentos')}; o mais antigo é do dia ${dayPt(date)}`,
    date,
    pullId: null,
  };
}

/** Days after its release from which a line without an answer of the ERP is overdue. */
export const BOOKING_OVERDUE_DAYS = 2;

/** Days after the offer of a line from which a consumer that has not read the line is behind. */
export const CONSUMER_BEHIND_DAYS = 1;

export function overdueLinesAlert(overdue: {
  readonly lines: number;
  /** The smallest accepted date of them. */
  readonly date: CivilDate;
}): Alert {
  const { lines, date } = overdue;
  return {
    kind: 'booking_overdue',
    dedupeKey: 'booking_overdue',
    message: `the ERP has not answered for ${lines} booking ${lines === 1 ? 'line' : 'lines'} ${BOOKING_OVERDUE_DAYS} days after the release, the oldest for ${date}`,
    messagePt: `o ERP não respondeu sobre ${countPt(lines, 'lançamento', 'lançamentos')} ${BOOKING_OVERDUE_DAYS} dias depois da liberação; o mais antigo é do dia ${dayPt(date)}`,
    date,
    pullId: null,
  };
}

export function waitingDaysAlert({
  days: count,
  date,
}: {
  readonly days: number;
  /** The oldest of them. */
  readonly date: CivilDate;
}): Alert {
  const wait =
    count === 1
      ? '1 signed-off day waits for the release of its bookings'
      : `${count} signed-off days wait for the release of their bookings`;
  return {
    kind: 'booking_waiting',
    dedupeKey: 'booking_waiting',
    message: `${wait}, the oldest ${date}`,
    messagePt: `${countPt(count, 'dia fechado aguarda', 'dias fechados aguardam')} a liberação dos lançamentos; o mais antigo é ${dayPt(date)}`,
    date,
    pullId: null,
  };
}

export function consumerBehindAlert(consumer: {
  readonly name: string;
  readonly behind: number;
}): Alert {
  const { name, behind } = consumer;
  return {
    kind: 'booking_overdue',
    dedupeKey: `booking_overdue:${name}`,
    message: `the consumer ${name} has not read its booking lines for more than ${CONSUMER_BEHIND_DAYS} day: ${behind} ${behind === 1 ? 'line waits' : 'lines wait'}`,
    messagePt: `o consumidor ${name} está há mais de ${CONSUMER_BEHIND_DAYS} dia sem ler seus lançamentos: ${countPt(behind, 'lançamento espera', 'lançamentos esperam')}`,
    date: null,
    pullId: null,
  };
}

/** The payables of the ERP and the age from which they count as stale. */
export interface PayableAge {
  /** When the payables were complete last; null: never. */
  readonly snapshotAt: Date | null;
  readonly maxAgeHours: number;
}

/** Whether payables are so old that nothing is concluded from them. */
export function isStale({ snapshotAt, maxAgeHours }: PayableAge, now: Date): boolean {
  return snapshotAt === null || now.getTime() - snapshotAt.getTime() >= maxAgeHours * HOUR_MS;
}

/** Returns the alert for urgent breaks between titles and payables; null: there are none. */
export function paidToSupplierAlert(breaks: number, dates: readonly CivilDate[]): Alert | null {
  const [first = null] = dates;
  if (breaks === 0) return null;
  const found = `${breaks} urgent ${breaks === 1 ? 'break' : 'breaks'}`;
  return {
    kind: 'paid_to_supplier',
    dedupeKey: 'paid_to_supplier',
    message: `${found} between titles and payables of the ERP, where money may be paid twice or to the wrong party: ${listDates(dates, 'en')}`,
    messagePt: `${countPt(breaks, 'divergência urgente', 'divergências urgentes')} entre títulos e contas a pagar do ERP, com risco de pagamento em dobro ou à parte errada: ${listDates(dates, 'pt-BR')}`,
    date: first,
    pullId: null,
  };
}

/** Returns the alert for payables that are stale. Null otherwise. */
export function stalePayablesAlert(
  { snapshotAt, maxAgeHours }: PayableAge,
  now: Date,
): Alert | null {
  const ageHours =
    snapshotAt === null ? null : Math.floor((now.getTime() - snapshotAt.getTime()) / HOUR_MS);
  if (!isStale({ snapshotAt, maxAgeHours }, now)) return null;
  return {
    kind: 'payables_stale',
    dedupeKey: 'payables_stale',
    message:
      ageHours === null
        ? 'the ERP has given no complete snapshot of its payables'
        : `the last complete snapshot of the ERP's payables is more than ${maxAgeHours} hours old`,
    messagePt:
      ageHours === null
        ? 'o ERP ainda não enviou uma posição completa das contas a pagar'
        : `a última posição completa das contas a pagar do ERP tem mais de ${maxAgeHours} horas`,
    date: null,
    pullId: null,
  };
}
