/** What people confirm for the matching: the buyers of companies, the tax identifiers of agents, and the tolerances. */
import type { AuditAction, Decision } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { refusal } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { parseCnpj } from '../../base/values/tax-id.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { hasConfirmed, NEWEST_SEAL, requireOtherSigner } from '../review/own-seal.sql.ts';
import { DEFAULT_RULES } from './candidates.sql.ts';
import { COMPANY_NAMES } from './companies.sql.ts';
import { exclusively, type MatchDecision, recordDecision, WAITS } from './match-decisions.sql.ts';
import { type BrokenTitle, readBrokenTitles } from './proposals.sql.ts';
import { matchTitles, type RunRequest, TRANSACTION } from './run-matching.sql.ts';

const MAX_COMPANY = 255;

/** A company of the ERP and a buyer that it stands for. */
export interface CompanyBuyer {
  readonly company: string;
  /** CNPJ. */
  readonly buyer: string;
}

/** A code of the ERP that stands for no buyer. */
interface UnmappedCompany {
  readonly company: string;
  /** Open ones, and their value. */
  readonly payables: number;
  readonly value: string;
  /** The buyers of the titles that the rule `order` has matched with its payables, the most frequent first. */
  readonly proposals: readonly { readonly buyer: string; readonly matches: number }[];
}
export type Confirmations = Awaited<ReturnType<typeof readConfirmations>>;

/** Reads the confirmations that count, and the companies that need one. */
export async function readConfirmations({ prisma }: Database) {
  const counts = { where: { endedAt: null }, orderBy: { id: 'asc' } } as const;
  const [unmapped, companies, agents] = await prisma.$transaction([
    prisma.$queryRaw<UnmappedCompany[]>`
      WITH ${COMPANY_NAMES}
      SELECT company, count(erp_key)::int AS payables, coalesce(sum(open_value), 0)::text AS value,
             (SELECT coalesce(jsonb_agg(jsonb_build_object('buyer', buyer, 'matches', matches)
                                        ORDER BY matches DESC, buyer), '[]')
              FROM (SELECT buyer, count(*) AS matches FROM conciliation.title_match AS match
                    JOIN conciliation.erp_payable AS taught USING (erp_key)
                    JOIN conciliation.title ON title.id = title_id
                    JOIN buyer_name ON buyer_name.name = buyer_identification
                    WHERE ended_at IS NULL AND rule = 'order' AND taught.company = unmapped.company
                    GROUP BY buyer) AS known) AS proposals
      FROM unmapped LEFT JOIN (
        SELECT * FROM conciliation.erp_payable WHERE status = 'open' AND closed_at IS NULL) AS open USING (company)
      GROUP BY company ORDER BY company`,
    prisma.companyBuyer.findMany(counts),
    prisma.partyEquivalent.findMany(counts),
  ]);
  return { unmapped, companies, agents };
}

const requireCnpj = (text: string): string => {
  const cnpj = parseCnpj(text);
  if (cnpj === null) throw refusal('cnpj_expected');
  return cnpj.digits;
};

const companyExpected = () => refusal('company_expected', { max: MAX_COMPANY });

/**
 * Records the buyers of companies. A pair that counts already stays as it is.
 * @returns the number of new pairs
 * @throws InputError when no pair is stated, or a company or a CNPJ cannot be read
 */
export function confirmCompanies(
  database: Database,
  pairs: readonly CompanyBuyer[],
  decision: MatchDecision,
): Promise<number> {
  const data = pairs.map(({ company, buyer }) => {
    const code = company.trim();
    if (code === '' || code.length > MAX_COMPANY) throw companyExpected();
    return { company: code, buyer: requireCnpj(buyer), ...authorOf(decision) };
  });
  if (data.length === 0) throw companyExpected();
  return decide(database, 'company.confirm', decision, async (tx) => {
    const made = await tx.companyBuyer.createManyAndReturn({ data, skipDuplicates: true });
    return made.map(({ id }) => id);
  });
}

/**
 * Records that two CNPJs name one financial agent, such as a fund and its administrator.
 * @throws InputError when one of the two is no CNPJ, or both are one company
 */
export async function confirmAgent(
  database: Database,
  { taxId, sameAs }: { readonly taxId: string; readonly sameAs: string },
  decision: MatchDecision,
): Promise<void> {
  const [first, second] = [requireCnpj(taxId), requireCnpj(sameAs)].sort();
  if (first === undefined || second === undefined || first.slice(0, 8) === second.slice(0, 8)) {
    throw refusal('cnpj_same');
  }
  await decide(database, 'agent.confirm', decision, async (tx) => {
    const data = { taxId: first, sameAs: second, ...authorOf(decision) };
    const made = await tx.partyEquivalent.createManyAndReturn({ data, skipDuplicates: true });
    return made.map(({ id }) => id);
  });
}

/** Ends a confirmation: `company` or `agent`. One that has ended already stays as it is. */
export async function endConfirmation(
  database: Database,
  kind: 'company' | 'agent',
  id: bigint,
  decision: Decision,
): Promise<void> {
  await decide(database, `${kind}.end`, decision, async (tx) => {
    const ended = {
      where: { id, endedAt: null },
      data: { endedAt: new Date(), endedBy: decision.by },
    };
    const { count } =
      kind === 'company'
        ? await tx.companyBuyer.updateMany(ended)
        : await tx.partyEquivalent.updateMany(ended);
    return count === 0 ? [] : [id];
  });
}

export type MatchingRules = typeof DEFAULT_RULES;

/** Returns the rules that count. */
export async function readRules({ prisma }: Database): Promise<MatchingRules> {
  const row = await prisma.matchingRule.findFirst({ orderBy: { id: 'desc' } });
  if (row === null) return DEFAULT_RULES;
  return { dueDays: row.dueDays, valueTolerance: row.valueTolerance.toFixed(2) };
}

/** Records rules. The next run of the matching uses them. */
export async function setRules(
  database: Database,
  rules: MatchingRules,
  decision: MatchDecision,
): Promise<void> {
  await decide(database, 'rules.confirm', decision, async (tx) => {
    const { id } = await tx.matchingRule.create({ data: { ...rules, ...authorOf(decision) } });
    return [id];
  });
}

export interface RuleEffect extends BrokenTitle {
  /** opens: the match of the title ends. proposed: the title gets a clear proposal. lost: it loses one. */
  readonly effect: 'closes' | 'opens' | 'proposed' | 'lost';
}

const UNDONE = new Error('a dry run changes nothing');

/** Returns what rules would change: runs the matching with them in a transaction that is rolled back. */
export async function tryRules(
  { prisma }: Database,
  rules: MatchingRules,
  request: RunRequest,
): Promise<RuleEffect[]> {
  const effects: RuleEffect[] = [];
  const run = prisma.$transaction(async (tx) => {
    // What has changed since the newest run is no effect of the rules.
    await matchTitles(tx, request);
    const before = await readBrokenTitles(tx);
    await tx.matchingRule.create({ data: { ...rules, confirmedBy: request.by, reason: '' } });
    await matchTitles(tx, request);
    effects.push(...effectsOf(before, await readBrokenTitles(tx)));
    throw UNDONE;
  }, TRANSACTION);
  await run.catch((error: unknown) => {
    if (error !== UNDONE) throw error;
  });
  return effects;
}

function effectsOf(before: readonly BrokenTitle[], after: readonly BrokenTitle[]): RuleEffect[] {
  const known = new Map(before.map((title) => [title.titleId, title]));
  const broken = new Set(after.map(({ titleId }) => titleId));
  return [
    ...before
      .filter(({ titleId }) => !broken.has(titleId))
      .map((title) => ({ ...title, effect: 'closes' as const })),
    ...after.flatMap((title): RuleEffect[] => {
      const was = known.get(title.titleId);
      if (was === undefined) return [{ ...title, effect: 'opens' }];
      if (title.isClear === true) return was.isClear ? [] : [{ ...title, effect: 'proposed' }];
      return was.isClear ? [{ ...title, effect: 'lost' }] : [];
    }),
  ];
}

const authorOf = ({ by, reason }: Decision) => ({ confirmedBy: by, reason });

/** Makes a decision, and a run of the matching due. The audit log names the rows, which are kept. */
export function decide(
  database: Database,
  action: AuditAction,
  { by, reason, fourEyes }: MatchDecision,
  act: (tx: Transaction) => Promise<bigint[]>,
): Promise<number> {
  return exclusively(database, async (tx) => {
    const rows = await act(tx);
    if (rows.length === 0) return 0;
    if (fourEyes === true && action.endsWith('.confirm')) await requireOthersToWait(tx, by);
    await recordDecision(tx, action, [], { by, reason }, { rows: rows.map(Number) });
    return rows.length;
  });
}

/**
 * A confirmation can match the titles that a signed day waits for, and end an urgent break.
 * @throws InputError when the person has signed off such a day, and its bookings wait for their release or an answer
 */
async function requireOthersToWait(tx: Transaction, by: string): Promise<void> {
  const waiting = await tx.$queryRaw<{ date: CivilDate }[]>`
    SELECT day.date::text AS date FROM conciliation.day ${NEWEST_SEAL} WHERE ${WAITS}`;
  const dates = waiting.map(({ date }) => date);
  await requireOtherSigner(tx, dates, by, { days: hasConfirmed(Prisma.sql`day.date`, by) });
}
