/** The one list of what keeps a day from being signed off or released, and of what a person has to know before. */
import { hash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { actionsOf } from '../../base/audit/audit.ts';
import type { QueryClient } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { orNull, words } from '../../console/api/schema-parts.ts';
import type { DayObstacle, KeptStep, ObstacleRules } from '../../console/day-obstacle.ts';
import type { Place } from '../../console/list/list.tsx';
import { Prisma } from '../../generated/prisma/client.ts';
import { accountObstacles } from '../accounts/payment-holds.sql.ts';
import { bookingObstacles } from '../bookings/release-conditions.sql.ts';
import { checkObstacles } from '../checks/findings.sql.ts';
import { matchingObstacles } from '../matching/break-list.sql.ts';
import { verifyObstacles } from '../verify/verify.sql.ts';
import { LedgerDay, selectDays } from './ledger-days.sql.ts';
import { hasConfirmed, hasMatched, hasResolved } from './own-seal.sql.ts';

const where = (condition: Prisma.Sql) =>
  Prisma.sql`SELECT NULL, NULL, NULL, NULL WHERE ${condition}`;

const reviewObstacles = {
  /** The day is not complete: held, failed, or with open rejects or findings. */
  not_reconciled: {
    keeps: ['sign', 'release'],
    rows: (date) =>
      where(Prisma.sql`EXISTS (
      SELECT FROM conciliation.day AS present
      WHERE present.date = ${date} AND (present.state <> 'reconciled' OR present.content_digest IS NULL))`),
  },
  /** The signer made a decision about the date, a match or a resolution that counts, or a confirmation that concerns its titles. */
  own_decision: {
    keeps: ['sign'],
    rows: (date, { signer = null }) =>
      where(
        signer === null
          ? Prisma.sql`false`
          : Prisma.sql`EXISTS (
              SELECT FROM conciliation.audit_entry AS entry
              WHERE entry.date = ${date} AND entry.action = ANY(${actionsOf('decision')})
                AND entry.actor = ${signer})
              OR ${hasMatched(date, signer)} OR ${hasResolved(date, signer)} OR ${hasConfirmed(date, signer)}`,
      ),
  },
  /** The date was open, in the ledger without a seal in force, when the signer, an administrator before, got the present role. */
  open_before: {
    keeps: ['sign'],
    rows: (date, { signer = null }) =>
      where(Prisma.sql`EXISTS (
      SELECT FROM conciliation.console_user AS person
      WHERE person.name = ${signer}
        AND EXISTS (SELECT FROM conciliation.pull
                    WHERE pull.date = ${date} AND pull.created_at <= person.decides_from)
        AND NOT EXISTS (SELECT FROM conciliation.sign_off AS seal
                        WHERE seal.date = ${date} AND seal.signed_off_at <= person.decides_from
                          AND (seal.ended_at IS NULL OR seal.ended_at > person.decides_from)))`),
  },
  /** Restated after it was signed off. */
  restated: {
    keeps: ['program'],
    rows: (date) =>
      where(Prisma.sql`EXISTS (
      SELECT FROM conciliation.day AS present WHERE present.date = ${date} AND present.restated_after_sign_off)`),
    href: (date) => `/days/${date}`,
  },
  /** Differences in value that a person has confirmed, without their signs. The bookings post them. */
  difference: {
    keeps: ['program'],
    rows: (date) => Prisma.sql`
      SELECT NULL, count(*), sum(abs(difference)), NULL
      FROM conciliation.title_match AS match JOIN conciliation.title AS matched ON matched.id = match.title_id
      WHERE matched.accepted_date = ${date} AND matched.status = 'current' AND match.ended_at IS NULL AND difference <> 0
      HAVING count(*) > 0`,
    href: (date) => `/titles?from=${date}&to=${date}`,
  },
  /** Rejected titles, open or accepted. */
  rejects: {
    keeps: ['program'],
    rows: (date) => Prisma.sql`
      SELECT NULL, present.rejected_count, NULL, NULL FROM conciliation.day AS present
      WHERE present.date = ${date} AND present.rejected_count > 0`,
    href: (date) => `/days/${date}#rejects`,
  },
  /** Titles that the newest response lacks and that stay current, because a rejected title may be one of them. */
  withheld: {
    keeps: ['program'],
    rows: (date) => Prisma.sql`
      SELECT NULL, merged.withheld, NULL, NULL
      FROM conciliation.day AS present JOIN conciliation.pull AS merged ON merged.id = present.last_pull_id
      WHERE present.date = ${date} AND merged.withheld > 0`,
  },
} as const satisfies Record<string, DayObstacle>;

const { receipts, not_matched } = bookingObstacles;
const { not_checked, finding } = checkObstacles;
const { not_reconciled, own_decision, open_before, ...reservations } = reviewObstacles;

/** In the order in which a day has one reason, and a list names them. */
export const OBSTACLES = {
  receipts,
  ...verifyObstacles,
  not_reconciled,
  not_checked,
  ...accountObstacles,
  own_decision,
  open_before,
  ...matchingObstacles,
  finding,
  ...reservations,
  not_matched,
};
export type ObstacleCode = keyof typeof OBSTACLES;
/** Those that keep a day from being signed off, or from its release. */
export type Keeping<Step extends KeptStep> = {
  [Code in ObstacleCode]: Step extends (typeof OBSTACLES)[Code]['keeps'][number] ? Code : never;
}[ObstacleCode];

const CODES = Object.keys(OBSTACLES) as ObstacleCode[];
const listed: Readonly<Record<ObstacleCode, DayObstacle>> = OBSTACLES;
export const keeps = <Step extends KeptStep>(
  code: ObstacleCode,
  step: Step,
): code is Keeping<Step> => listed[code].keeps.includes(step);

const SIGN_OBSTACLES = CODES.filter((code) => keeps(code, 'sign'));
/** Those that keep a person from a day. The checks run within seconds after a merge, so a person need not wait for them. */
const PERSON_OBSTACLES = SIGN_OBSTACLES.filter((code) => code !== 'not_checked');
/** Those without which the program signs a day. */
export const PROGRAM_OBSTACLES = CODES.filter((code) => listed[code].keeps.length > 0);
export const RELEASE_FAULTS = CODES.filter((code) => keeps(code, 'release'));
export type ReleaseFault = Keeping<'release'>;

export const Obstacle = Type.Object({
  code: words(CODES),
  kind: orNull('string', { description: 'Of a break, a finding or titles whose payment is held.' }),
  keeps: Type.Array(words<KeptStep>(['sign', 'release', 'program']), {
    description:
      'sign: nobody signs the day. release: the signed day waits. program: a person may sign the day, and the program does not. Empty: for information.',
  }),
  found: orNull('integer'),
  value: orNull('string', {
    description:
      'Of the titles, exact decimal. Of break: without their signs. Of difference: the sum of the confirmed differences without their signs.',
  }),
  isUrgent: Type.Boolean(),
  waits: Type.Union([Type.Boolean(), Type.Null()], {
    description:
      'Of a break: whether its titles wait when the day is released. Null: it is no break, or the day has no bookings.',
  }),
});
export type Obstacle = Readonly<Static<typeof Obstacle>>;

export const JudgedDay = Type.Object({
  ...LedgerDay.properties,
  obstacles: Type.Array(Obstacle, {
    description:
      'What keeps the day from being signed off or released, or what a person has to know before.',
  }),
});
export type JudgedDay = Readonly<Static<typeof JudgedDay>>;

/**
 * Names what a person sees of a day that is signed off: its content, and the reservations that have a number. The other
 * obstacles refuse the sign-off, or begin and end with the runs of the program.
 */
export function seenOf(day: Pick<JudgedDay, 'contentDigest' | 'obstacles'>): string {
  const counted = day.obstacles.filter(({ code, found }) => found !== null && !keeps(code, 'sign'));
  return hash('sha256', JSON.stringify([day.contentDigest, counted]));
}

export const isKept = ({ obstacles }: Pick<JudgedDay, 'obstacles'>): boolean =>
  obstacles.some(({ code }) => PERSON_OBSTACLES.some((kept) => kept === code));

const rowsOf = (codes: readonly ObstacleCode[], date: Prisma.Sql, rules: ObstacleRules) =>
  Prisma.join(
    codes.map(
      (code) => Prisma.sql`
        SELECT ${CODES.indexOf(code)}::int AS place, ${code}::text AS code, kind::text AS kind, found::int AS found,
               value::numeric AS value, coalesce(urgent::boolean, false) AS urgent,
               (to_jsonb(obstacle) ->> 'waits')::boolean AS waits
        FROM (${listed[code].rows(date, rules)}) AS obstacle (kind, found, value, urgent)`,
    ),
    ' UNION ALL ',
  );

/** Without bookings, nothing is released and waits. */
const codesFor = ({ bookingsFrom = null }: ObstacleRules) =>
  bookingsFrom === null
    ? CODES.filter((code) => keeps(code, 'sign') || !keeps(code, 'release'))
    : CODES;

/** True where the date has one of the obstacles; absent: any. */
export const hasObstacle = (
  date: Prisma.Sql,
  rules: ObstacleRules,
  codes: readonly ObstacleCode[] = codesFor(rules),
): Prisma.Sql => Prisma.sql`EXISTS (SELECT FROM (${rowsOf(codes, date, rules)}) AS kept)`;

/** Returns the obstacles of each of the dates that has one, in their order. */
export async function readObstacles(
  client: QueryClient,
  dates: readonly CivilDate[],
  rules: ObstacleRules,
  codes: readonly ObstacleCode[] = codesFor(rules),
): Promise<ReadonlyMap<CivilDate, readonly Obstacle[]>> {
  const rows = await client.$queryRaw<(Omit<Obstacle, 'keeps'> & { date: CivilDate })[]>`
    SELECT wanted.date::text AS date, code, kind, found, value::text AS value, urgent AS "isUrgent", waits
    FROM unnest(${dates}::text[]::date[]) AS wanted (date)
    CROSS JOIN LATERAL (${rowsOf(codes, Prisma.sql`wanted.date`, rules)}) AS obstacle
    ORDER BY wanted.date, place, urgent DESC, value DESC NULLS LAST, kind`;
  const found = new Map<CivilDate, Obstacle[]>();
  for (const { date: of, ...row } of rows) {
    found.set(of, [...(found.get(of) ?? []), { ...row, keeps: [...listed[row.code].keeps] }]);
  }
  return found;
}

export async function withObstacles(
  client: QueryClient,
  days: readonly LedgerDay[],
  rules: ObstacleRules,
): Promise<JudgedDay[]> {
  const found = await readObstacles(
    client,
    days.map(({ date }) => date),
    rules,
  );
  return days.map((day) => ({ ...day, obstacles: [...(found.get(day.date) ?? [])] }));
}

/** Returns what keeps a signed-off day from being released; empty: nothing. */
export async function readReleaseFaults(
  client: QueryClient,
  of: CivilDate,
  rules: ObstacleRules,
): Promise<ReleaseFault[]> {
  const found = (await readObstacles(client, [of], rules, RELEASE_FAULTS)).get(of) ?? [];
  return found.flatMap(({ code }) => (keeps(code, 'release') ? code : []));
}

/**
 * Over all days of a condition. The sum is decimal text, exact.
 */
export interface SignableTotals {
  readonly days: number;
  readonly titles: number;
  readonly originalValueSum: string;
}

/**
 * - `all`: the person of the rules may sign the day
 * - `clean`: and there is nothing that the person has to know
 * - `kept`: something keeps the person, or everybody, from the day
 */
export const SIGNABLE = ['all', 'clean', 'kept'] as const;
export type Signable = (typeof SIGNABLE)[number];

/**
 * A condition for a row `day`: it is complete, and not signed off in its present state.
 * @param today no later day counts
 */
export const isSignable = (
  today: CivilDate,
  rules: ObstacleRules,
  wanted: Signable,
): Prisma.Sql => {
  const codes = wanted === 'clean' ? codesFor(rules) : PERSON_OBSTACLES;
  return Prisma.sql`
    state = 'reconciled' AND content_digest IS NOT NULL
    AND (signed_off_at IS NULL OR restated_after_sign_off) AND date <= ${today}::date
    AND ${hasObstacle(Prisma.sql`day.date`, rules, codes)} = ${wanted === 'kept'}`;
};

export const isOneOf = (dates: readonly CivilDate[]) =>
  Prisma.sql`date = ANY(${dates}::text[]::date[])`;

export async function readDayTotals(
  db: QueryClient,
  condition: Prisma.Sql,
): Promise<SignableTotals> {
  const [row] = await db.$queryRaw<[SignableTotals]>`
    SELECT count(*)::int AS days, coalesce(sum(title_count), 0)::float8 AS titles,
           coalesce(sum(original_value_sum), 0)::text AS "originalValueSum"
    FROM conciliation.day WHERE ${condition}`;
  return row;
}

/** Returns a part of the days of a condition, newest first. */
export function readDays(
  db: QueryClient,
  condition: Prisma.Sql,
  page: Place,
): Promise<LedgerDay[]> {
  return db.$queryRaw<LedgerDay[]>(
    selectDays(Prisma.sql`
      ${condition} ORDER BY day.date DESC OFFSET ${page.offset}::int LIMIT ${page.limit}::int`),
  );
}
