import { companyIdOf } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** The CNPJ that a column is, in normal form; null: the text is none. */
const cnpjOf = (column: string) => Prisma.sql`
  (SELECT id FROM (SELECT ${companyIdOf(column)} AS id) AS form WHERE length(id) = 14)`;

/**
 * What the companies of the payables and the buyers of the titles say of one another. For a statement with WITH:
 * - `company_name`: the companies that stand for buyers, with their CNPJs, of the code or as mapped; `is_named`: whether
 *   a title has one of these buyers
 * - `buyer_name`: the buyers of titles that are a CNPJ, as the title states them; `is_claimed`: whether a company stands
 *   for the buyer
 * - `company_fact`: whether the payables name one company at most, and the titles one buyer at most. Branches count as one
 * - `unmapped`: the codes that stand for no buyer, although there are several companies or buyers
 */
export const COMPANY_NAMES = Prisma.sql`
  named_company AS MATERIALIZED (
    -- Payables that are not open count too: the ERP has these companies, whichever of them owes now.
    SELECT DISTINCT company FROM conciliation.erp_payable WHERE company <> ''
  ), named_buyer AS MATERIALIZED (
    SELECT name, ${cnpjOf('name')} AS buyer FROM (
      SELECT DISTINCT buyer_identification AS name FROM conciliation.title
      WHERE status = 'current' AND buyer_identification ~ '\\S'
    ) AS stated
  ), company_claim AS MATERIALIZED (
    SELECT company, buyer FROM (
      -- A shorter code of the ERP is no CNPJ that has lost its zeros.
      SELECT company, CASE WHEN length(translate(company, './- ', '')) = 14 THEN ${cnpjOf('company')} END AS buyer
      FROM named_company
    ) AS coded WHERE buyer IS NOT NULL
    UNION
    SELECT company, buyer FROM conciliation.company_buyer WHERE ended_at IS NULL
  ), company_name AS MATERIALIZED (
    SELECT company, array_agg(buyer) AS buyers, array_agg(left(buyer, 8)) AS roots,
           bool_or(buyer IN (SELECT buyer FROM named_buyer WHERE buyer IS NOT NULL)) AS is_named
    FROM company_claim GROUP BY company
  ), buyer_name AS MATERIALIZED (
    SELECT name, buyer, buyer IN (SELECT buyer FROM company_claim) AS is_claimed
    FROM named_buyer WHERE buyer IS NOT NULL
  ), company_fact AS MATERIALIZED (
    SELECT (SELECT count(*) FROM (
              SELECT company FROM named_company WHERE company NOT IN (SELECT company FROM company_claim)
              UNION SELECT left(buyer, 8) FROM company_claim) AS companies) <= 1
       AND (SELECT count(DISTINCT coalesce(left(buyer, 8), name)) FROM named_buyer) <= 1 AS is_single
  ), unmapped AS (
    SELECT company FROM named_company CROSS JOIN company_fact
    WHERE NOT is_single AND company NOT IN (SELECT company FROM company_claim)
  )`;
