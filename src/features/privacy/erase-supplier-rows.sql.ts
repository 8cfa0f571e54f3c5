import type { Transaction } from '../../base/database/database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { isNamedIn, keysInText } from './erased-parties.sql.ts';
import { keysOf, type PartyNames } from './party-names.sql.ts';

/** A payable and a title of the party have the same pseudonym as the supplier's code, so they still match. */
export function erasePayables(
  tx: Transaction,
  names: PartyNames,
  pseudonym: string,
): Promise<number> {
  const isSupplier = Prisma.sql`(
    supplier_tax_id = ANY(${names.taxIds}::text[])
    OR (supplier_tax_id IS NULL AND btrim(supplier_external_id) = ANY(${names.externalIds}::text[])))`;
  const isPaid = Prisma.sql`coalesce(paid_to = ANY(${names.taxIds}::text[]), false)`;
  const isPayee = Prisma.sql`coalesce(payee = ANY(${names.taxIds}::text[]), false)`;
  return tx.$executeRaw`
    UPDATE conciliation.erp_payable
    SET supplier_external_id = CASE WHEN is_supplier THEN ${pseudonym} ELSE supplier_external_id END,
        supplier_tax_id = CASE WHEN NOT is_supplier THEN supplier_tax_id END,
        payee = CASE WHEN NOT ${isPayee} THEN payee END,
        paid_to = CASE WHEN NOT ${isPaid} THEN paid_to END,
        document = CASE WHEN NOT is_in_document THEN document END,
        -- An erasure states nothing. The trigger takes a row whose instant is unchanged for a statement of the ERP.
        stated_at = stated_at + interval '1 microsecond'
    FROM (SELECT *, ${isNamedIn(Prisma.sql`written`, names, Prisma.sql`is_supplier`)} AS is_in_document
          FROM (SELECT erp_key AS key, document AS written, coalesce(${isSupplier}, false) AS is_supplier
                FROM conciliation.erp_payable) AS supplied) AS named
    WHERE erp_key = key AND (is_supplier OR is_in_document OR ${isPayee} OR ${isPaid})`;
}

/** The supplier's row, and references to it in the rows of other suppliers. */
export async function eraseProviders(
  tx: Transaction,
  names: PartyNames,
  pseudonym: string,
): Promise<number> {
  const keys = keysOf(names);
  const deleted = await tx.$executeRaw`
    DELETE FROM conciliation.provider
    WHERE tax_id = ANY(${names.taxIds}::text[]) OR sent_tax_ids && ${names.taxIds}::text[]
       OR (external_id = ANY(${names.externalIds}::text[]) AND tax_id IS NULL)`;
  await tx.$executeRaw`
    UPDATE conciliation.provider
    SET contested_by = ARRAY(
      SELECT CASE WHEN id = ANY(${names.externalIds}::text[]) THEN ${pseudonym} ELSE id END
      FROM unnest(contested_by) AS rival (id))
    WHERE contested_by && ${names.externalIds}::text[]`;
  await tx.$executeRaw`
    UPDATE conciliation.provider supplier SET last_error = ''
    WHERE last_error IS NOT NULL AND EXISTS (
      SELECT FROM ${keysInText('supplier.last_error')} AS named WHERE named.key = ANY(${keys}::text[]))`;
  return deleted;
}
