import type { Transaction } from '../../base/database/database.ts';
import { parseCnpj } from '../../base/values/tax-id.ts';

/** What the companies of the payables and the buyers of the titles say of one another. */
export type CompanyFacts = Awaited<ReturnType<typeof readCompanyFacts>>;

/** The CNPJ that a text is, in normal form; null: the text is none. */
export const cnpjOf = (text: string): string | null => parseCnpj(text)?.digits ?? null;
/** A shorter code of the ERP is no CNPJ that has lost its zeros. */
const cnpjOfCode = (code: string) =>
  code.replace(/[./\- ]/g, '').length === 14 ? cnpjOf(code) : null;
const rootOf = (cnpj: string) => cnpj.slice(0, 8);

/** Reads which buyers the companies of the payables stand for. */
export async function readCompanyFacts(tx: Transaction) {
  // Payables that are not open count too: the ERP has these companies, whichever of them owes now.
  const codes = await tx.$queryRaw<{ company: string }[]>`
    SELECT DISTINCT company FROM conciliation.erp_payable WHERE company <> '' ORDER BY company`;
  const names = await tx.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT buyer_identification AS name FROM conciliation.title
    WHERE status = 'current' AND buyer_identification ~ '\\S'`;
  const mapped = await tx.companyBuyer.findMany({
    where: { endedAt: null },
    select: { company: true, buyer: true },
  });
  const claims = new Map<string, Set<string>>();
  const claim = (company: string, buyer: string) =>
    claims.set(company, (claims.get(company) ?? new Set()).add(buyer));
  for (const { company } of codes) {
    const cnpj = cnpjOfCode(company);
    if (cnpj !== null) claim(company, cnpj);
  }
  for (const { company, buyer } of mapped) claim(company, buyer);
  const buyers = names.flatMap(({ name }) => {
    const buyer = cnpjOf(name);
    return buyer === null ? [] : [{ name, buyer }];
  });
  const named = new Set(buyers.map(({ buyer }) => buyer));
  const claimed = new Set([...claims.values()].flatMap((each) => [...each]));
  const unmapped = codes.map(({ company }) => company).filter((company) => !claims.has(company));
  const companyRoots = new Set([...unmapped, ...[...claimed].map(rootOf)]);
  const buyerRoots = new Set(
    names.map(({ name }) => {
      const buyer = cnpjOf(name);
      return buyer === null ? name : rootOf(buyer);
    }),
  );
  const isSingle = companyRoots.size <= 1 && buyerRoots.size <= 1;
  return {
    /** The companies that a payable names and that stand for buyers: CNPJs in normal form, of the code or as mapped. */
    companies: [...claims].map(([company, stated]) => ({
      company,
      buyers: [...stated],
      /** Whether a title has one of these buyers. */
      is_named: [...stated].some((buyer) => named.has(buyer)),
    })),
    /** The buyers of titles that are a CNPJ, as the title states them and in normal form. */
    buyers: buyers.map(({ name, buyer }) => ({ name, buyer, is_claimed: claimed.has(buyer) })),
    /** Whether the payables name one company at most, and the titles one buyer at most. Branches count as one. */
    isSingle,
    /** The codes that stand for no buyer, although there are several companies or buyers. */
    unmapped: isSingle ? [] : unmapped,
  };
}
