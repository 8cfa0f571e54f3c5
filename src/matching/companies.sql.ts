import type { Transaction } from '../database/database.ts';
import { parseTaxId } from '../domain/tax-id.ts';

/** What the companies of the payables and the buyers of the titles say of one another. */
export interface CompanyFacts {
  /** The companies that a payable names and that stand for buyers. */
  readonly companies: readonly {
    readonly company: string;
    /** CNPJs in normal form: of the code, or those that a person has mapped the code to. */
    readonly buyers: readonly string[];
    /** Whether a title has one of these buyers. */
    readonly is_named: boolean;
  }[];
  /** The buyers of titles that are a CNPJ. */
  readonly buyers: readonly {
    /** As the title states it. */
    readonly name: string;
    /** CNPJ in normal form. */
    readonly buyer: string;
    /** Whether a payable names this buyer. */
    readonly is_claimed: boolean;
  }[];
  /** Whether the open payables name one company at most, and the titles one buyer at most. Branches count as one. */
  readonly isSingle: boolean;
}

const cnpjOf = (text: string): string | null => {
  const parsed = parseTaxId(text);
  return parsed?.kind === 'cnpj' ? parsed.digits : null;
};
const rootOf = (cnpj: string) => cnpj.slice(0, 8);

/** Reads which buyers the companies of the payables stand for. */
export async function readCompanyFacts(tx: Transaction): Promise<CompanyFacts> {
  const codes = await tx.$queryRaw<{ company: string; isOpen: boolean }[]>`
    SELECT company, bool_or(status = 'open' AND closed_at IS NULL) AS "isOpen"
    FROM conciliation.erp_payable WHERE company <> '' GROUP BY company`;
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
    const cnpj = cnpjOf(company);
    if (cnpj !== null) claim(company, cnpj);
  }
  for (const { company, buyer } of mapped) claim(company, buyer);
  const buyers = names.flatMap(({ name }) => {
    const buyer = cnpjOf(name);
    return buyer === null ? [] : [{ name, buyer }];
  });
  const named = new Set(buyers.map(({ buyer }) => buyer));
  const claimed = new Set([...claims.values()].flatMap((each) => [...each]));
  const openCompanies = codes
    .filter(({ isOpen }) => isOpen)
    .flatMap(({ company }) => {
      const stated = claims.get(company);
      return stated === undefined ? [company] : [...stated].map(rootOf);
    });
  const buyerRoots = names.map(({ name }) => rootOf(cnpjOf(name) ?? name));
  return {
    companies: [...claims].map(([company, stated]) => ({
      company,
      buyers: [...stated],
      is_named: [...stated].some((buyer) => named.has(buyer)),
    })),
    buyers: buyers.map(({ name, buyer }) => ({ name, buyer, is_claimed: claimed.has(buyer) })),
    isSingle: new Set(openCompanies).size <= 1 && new Set(buyerRoots).size <= 1,
  };
}
