import type { Database } from '../../src/base/database/database.ts';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import type { ObstacleRules } from '../../src/console/day-obstacle.ts';
import type { PullParts } from '../../src/core/work/run-pull.ts';
import {
  type AccountDecision,
  decideAccountChanges,
} from '../../src/features/accounts/account-changes.sql.ts';
import { checkDays } from '../../src/features/checks/check-day.sql.ts';
import { eraseParty } from '../../src/features/privacy/erase-party.sql.ts';
import { readObstacles, seenOf } from '../../src/features/review/obstacles.sql.ts';
import { signOffDay, signOffDays } from '../../src/features/review/sign-off.sql.ts';
import { verifyDate } from '../../src/features/verify/verify.sql.ts';
import { ANY_DAY_RULES } from './check-rules.ts';
import { DAY, type PullWorld } from './pull-world.ts';
import { titleText } from './titles.ts';

/** Makes these titles the titles of a date, pulls them, and checks the date. */
export async function pullDay(
  world: PullWorld,
  date: CivilDate,
  ...titles: readonly (string | Parameters<typeof titleText>[0])[]
) {
  const report = await world.serve(
    date,
    titles.map((title) => (typeof title === 'string' ? title : titleText({ date, ...title }))),
    { withdrawalLimitPercent: 100 },
  );
  await checkAnyDay(world.database);
  return report;
}

/** Checks the dates that wait for it; no finding keeps one from being reconciled. */
export const checkAnyDay = (database: Database) => checkDays(database, ANY_DAY_RULES);

/** What a person who signs a date off in the state that it has has seen. */
export async function digestOf(
  { prisma }: Database,
  date: CivilDate,
  rules: ObstacleRules = { bookingsFrom: DAY },
): Promise<string> {
  const { contentDigest = null } = (await prisma.day.findUnique({ where: { date } })) ?? {};
  const obstacles = [...((await readObstacles(prisma, [date], rules)).get(date) ?? [])];
  return seenOf({ contentDigest, obstacles });
}

/** Signs a date off in the state that it has. */
export async function signDay(
  database: Database,
  date: CivilDate,
  signing: Partial<Parameters<typeof signOffDay>[2]> = {},
): Promise<void> {
  const rules = { by: 'ana', reason: null, fourEyes: false, bookingsFrom: DAY, ...signing };
  const seenDigest = await digestOf(database, date, rules);
  await signOffDay(database, date, { seenDigest, ...rules });
}

/** The same as one of several dates. Returns why it was refused; null: it was signed off. */
export async function trySigning(
  database: Database,
  date: CivilDate,
  signing: Partial<Parameters<typeof signOffDays>[2]> = {},
) {
  const rules = { by: 'rita', reason: null, fourEyes: false, bookingsFrom: DAY, ...signing };
  const day = { date, seenDigest: await digestOf(database, date, rules) };
  const [outcome] = await signOffDays(database, [day], rules);
  return outcome?.refusal ?? null;
}

/** Why a person may not sign a date off as the second one; null: the person may. */
export async function fourEyesFault({ prisma }: Database, date: CivilDate, signer: string) {
  const found = await readObstacles(prisma, [date], { signer }, ['own_decision', 'open_before']);
  return found.get(date)?.[0]?.code ?? null;
}

/** What a check of the date finds that something outside of the program has changed. */
export const findAlterations = async (database: Database, date: CivilDate) =>
  (await verifyDate(database, date, new AbortController().signal)).alterations;

/** Checks a date, and makes the pull that the check requests. Returns what the check has found. */
export async function repairDay(world: PullWorld, date: CivilDate, overrides?: Partial<PullParts>) {
  const verified = await verifyDate(world.database, date, new AbortController().signal);
  const { repairPullId } = verified;
  const outcome = repairPullId === null ? null : await world.run(repairPullId, overrides);
  if (outcome !== null && outcome.kind !== 'done') throw outcome.error;
  return verified;
}

/** Decides all open changes of bank accounts, as a person does: one account of a party at a time. */
export async function decideOpenChanges(
  database: Database,
  state: AccountDecision = 'confirmed',
  by = 'ana',
): Promise<void> {
  const open = await database.prisma.accountChange.findMany({
    where: { state: 'open' },
    orderBy: { id: 'asc' },
  });
  const accounts = new Map<string, bigint[]>();
  for (const { id, kind, partyKey, accountHash } of open) {
    const account = `${kind} ${partyKey} ${accountHash}`;
    accounts.set(account, [...(accounts.get(account) ?? []), id]);
  }
  for (const ids of accounts.values()) {
    await decideAccountChanges(database, ids, { by, state, list: 'open', reason: 'called them' });
  }
}

type Erasure = Parameters<typeof eraseParty>[1];

/** Erases the party of this tax identifier or external identifier. */
export const erase = (
  database: Database,
  party: { readonly taxId: string } | { readonly externalId: string },
  more: Partial<Erasure> = {},
) =>
  eraseParty(database, {
    party: 'taxId' in party ? { ...party, externalId: null } : { ...party, taxId: null },
    ...{ by: 'test', reason: 'a test', isDryRun: false, ...more },
  });
