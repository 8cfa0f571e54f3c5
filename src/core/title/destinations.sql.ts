/** The destinations of a payment that a row of `title` states in undocumented fields. */

import { Prisma } from '../../generated/prisma/client.ts';
import {
  DESTINATION_MEMBERS,
  DESTINATION_PATHS,
  type FieldRole,
  type PartyKind,
} from './promoted-fields.ts';
import { pathOf, promotedOfRow, textAt } from './title-hashes.sql.ts';

// Column names are constants of core/title: nothing from outside reaches Prisma.raw.

/** By kind of party, the role of the promoted fields that are a part of its account. */
export const ACCOUNT_ROLES = {
  provider: 'provider_account',
  financial_agent: 'agent_account',
} as const satisfies Record<PartyKind, FieldRole>;

/** The stated members of a kind of party, and its promoted fields, as JSON of texts; null: none. */
export const destinationOfRow = (kind: PartyKind): string => `
  (CASE WHEN extra IS NOT NULL THEN
    nullif(coalesce((
      SELECT jsonb_object_agg(member, ${memberValue(kind)}) FROM unnest(${pathOf(DESTINATION_MEMBERS)}::text[]) AS member
      WHERE ${memberValue(kind)} IS NOT NULL), '{}') || coalesce(${promotedOfRow(ACCOUNT_ROLES[kind])}, '{}'), '{}') END)`;

const memberValue = (kind: PartyKind) =>
  textAt(`(${pathOf(DESTINATION_PATHS[kind])}::text[] || member)`);

/** The columns of `booking_line` with the destinations and the promoted fields of a row of `title`. */
export const DESTINATION_COLUMNS = [
  'provider_destination',
  'payment_destination',
  'promoted',
] as const;

/** The destinations and promoted fields that a row of `title` states, with the names of `DESTINATION_COLUMNS`. */
export const destinationColumns = Prisma.sql`
  ${Prisma.raw(destinationOfRow('provider'))} AS provider_destination,
  ${Prisma.raw(destinationOfRow('financial_agent'))} AS payment_destination,
  ${Prisma.raw(promotedOfRow())} AS promoted`;
