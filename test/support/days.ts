import type { Database } from '../../src/base/database/database.ts';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import type { ObstacleRules } from '../../src/console/day-obstacle.ts';
import type { PullParts } from '../../src/core/work/run-pull.ts';
import { checkDays } from '../../src/features/checks/check-day.sql.ts';
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
  await checkDays(world.database, ANY_DAY_RULES);
  return report;
}

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
