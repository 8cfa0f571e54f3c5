import { accessText } from '../access/access-text.ts';
import { usersText } from '../access/users-text.ts';
import { accountText } from '../account/account-text.ts';
import { backfillsText } from '../backfills/backfills-text.ts';
import { bookingsText } from '../bookings/bookings-text.ts';
import { monthsText } from '../closing/months-text.ts';
import { signOffsText } from '../closing/sign-offs-text.ts';
import { dayText } from '../days/day-text.ts';
import { daysText } from '../days/days-text.ts';
import { restatedText } from '../days/restated-text.ts';
import { findingsText } from '../findings/findings-text.ts';
import { matchingText } from '../matching/matching-text.ts';
import { providersText } from '../providers/providers-text.ts';
import { scheduleText } from '../schedule/schedule-text.ts';
import { titlesText } from '../titles/titles-text.ts';
import { watchText } from '../watch/watch-text.ts';
import { faultsText } from './faults-text.ts';
import { frameText } from './frame-text.ts';
import type { Language } from './language.ts';

const en = {
  ...frameText.en,
  ...accessText.en,
  ...daysText.en,
  ...dayText.en,
  ...restatedText.en,
  ...signOffsText.en,
  ...monthsText.en,
  ...titlesText.en,
  ...scheduleText.en,
  ...findingsText.en,
  ...matchingText.en,
  ...backfillsText.en,
  ...bookingsText.en,
  ...providersText.en,
  ...watchText.en,
  ...usersText.en,
  ...accountText.en,
  ...faultsText.en,
};

/** Every sentence of the console. A text that is missing in one of the languages is a compile error. */
export type Text = typeof en;

const ptBR: Text = {
  ...frameText['pt-BR'],
  ...accessText['pt-BR'],
  ...daysText['pt-BR'],
  ...dayText['pt-BR'],
  ...restatedText['pt-BR'],
  ...signOffsText['pt-BR'],
  ...monthsText['pt-BR'],
  ...titlesText['pt-BR'],
  ...scheduleText['pt-BR'],
  ...findingsText['pt-BR'],
  ...matchingText['pt-BR'],
  ...backfillsText['pt-BR'],
  ...bookingsText['pt-BR'],
  ...providersText['pt-BR'],
  ...watchText['pt-BR'],
  ...usersText['pt-BR'],
  ...accountText['pt-BR'],
  ...faultsText['pt-BR'],
};

export const TEXTS: Readonly<Record<Language, Text>> = { en, 'pt-BR': ptBR };
