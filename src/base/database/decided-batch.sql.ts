import { Prisma } from '../../generated/prisma/client.ts';

/**
 * True for a row of `provider_batch` in which the platform decided about a provider. The refusal of several
 * providers decides none, because the platform does not name the refused ones.
 */
export const IS_DECIDED_BATCH = Prisma.sql`
  (finished_at IS NOT NULL AND error_code IS NULL
   AND (http_status < 300 OR cardinality(external_ids) = 1))`;
