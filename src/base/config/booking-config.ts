import type { CivilDate } from '../values/business-day.ts';
import type { PlaintextHosts } from './address-faults.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { readWebhookUrl } from './secret-variables.ts';

/** The settings of the bookings that sign-offs release to the ERP. */
export interface BookingConfig {
  /** The first accepted date whose seals release bookings; null: seals release nothing. */
  readonly bookingsFrom: CivilDate | null;
  /** Whether the program makes the first seal of a day without anything to decide, from `bookingsFrom` on. */
  readonly signsCleanDays: boolean;
  /** The webhook that wakes the readers of the booking feed. A secret, because the URL may hold a token. */
  readonly bookingsWebhookUrl: URL | null;
  readonly bookingsWebhookSecretFile: string | null;
  readonly bookingsWebhookSecret: string | null;
}

export function readBookings(reader: EnvironmentReader, allowed: PlaintextHosts): BookingConfig {
  const bookingsFrom = reader.date('BOOKINGS_FROM');
  const signsCleanDays = reader.choice('AUTO_SIGN_OFF', 'off', ['off', 'clean']) === 'clean';
  if (signsCleanDays && reader.text('BOOKINGS_FROM') === null) {
    reader.problems.push('BOOKINGS_FROM: not set, expected with AUTO_SIGN_OFF=clean');
  }
  const bookingsWebhookUrl = readWebhookUrl(reader, 'BOOKINGS_WEBHOOK_URL', allowed);
  if (bookingsWebhookUrl !== null && reader.text('BOOKINGS_FROM') === null) {
    reader.problems.push('BOOKINGS_FROM: not set, expected with BOOKINGS_WEBHOOK_URL');
  }
  const { secretFile, secret } = reader.secret('BOOKINGS_WEBHOOK_SECRET');
  return {
    bookingsFrom,
    signsCleanDays,
    bookingsWebhookUrl,
    bookingsWebhookSecretFile: secretFile,
    bookingsWebhookSecret: secret,
  };
}
