import type { Client } from 'pg';
import { DIGEST_SQL, rowSql } from './platform-titles.ts';
import type { ServedDays } from './served-days.ts';
import type { Violations } from './violations.ts';

/** Everything that pulling again must leave as it is. */
const CONTENTS = `
  SELECT (SELECT jsonb_agg(title ORDER BY id) FROM conciliation.title)::text AS titles,
         (SELECT jsonb_agg(entry ORDER BY title_id, revision)
          FROM conciliation.title_revision AS entry)::text AS revisions,
         (SELECT jsonb_agg(to_jsonb(day) - 'verified_at' - 'last_pull_id' ORDER BY date)
          FROM conciliation.day)::text AS days,
         (SELECT jsonb_agg(to_jsonb(checkpoint) - 'pull_id' - 'updated_at')
          FROM conciliation.checkpoint)::text AS checkpoint,
         (SELECT jsonb_agg(entry ORDER BY id) FROM conciliation.sign_off AS entry)::text AS seals`;

export type Contents = Readonly<Record<string, string | null>>;

export async function readContents(client: Client): Promise<Contents> {
  const { rows } = await client.query<Contents>(CONTENTS);
  return rows[0] ?? {};
}

export function checkUnchanged(before: Contents, after: Contents, violations: Violations): void {
  for (const [what, text] of Object.entries(before)) {
    if (after[what] !== text) violations.add(3, `pulling again changed ${what}`);
  }
}

interface DayRow {
  readonly digest: string;
  readonly titles: number;
  readonly state: string | null;
}

/** The content of the tables for a date, by the checker's own digest. */
export async function readDay(client: Client, date: string): Promise<DayRow | undefined> {
  const { rows } = await client.query<DayRow>(
    `SELECT ${DIGEST_SQL} AS digest, count(row)::int AS titles,
            (SELECT state FROM conciliation.day WHERE date = $1) AS state
     FROM (SELECT ${rowSql('title')} AS row FROM conciliation.title AS title
           WHERE status = 'current' AND accepted_date = $1) AS title`,
    [date],
  );
  return rows[0];
}

/** (1) Each date is reconciled and equals the platform's answer, as a multiset and with exact amounts. */
export async function checkDays(
  client: Client,
  served: ServedDays,
  violations: Violations,
): Promise<void> {
  for (const date of served.dates) {
    const day = await readDay(client, date);
    const wanted = served.latest(date);
    if (day?.digest !== wanted.digest) {
      violations.add(1, `${date}: ${day?.titles} titles, not the ${wanted.titles.length} served`);
    }
    if (day?.state !== 'reconciled') violations.add(1, `${date} is ${day?.state}, not reconciled`);
  }
  const { rows } = await client.query<{ date: string | null }>(
    'SELECT last_reconciled_date::text AS date FROM conciliation.checkpoint',
  );
  if (rows[0]?.date !== served.dates.at(-1)) {
    violations.add(1, `the checkpoint is at ${rows[0]?.date}, not at ${served.dates.at(-1)}`);
  }
}

/** (6) A date that was signed off and restated is flagged, and an alert names it: what is amiss. */
export async function checkSeals(
  client: Client,
  restated: ReadonlyMap<string, boolean>,
): Promise<string[]> {
  const { rows } = await client.query<{ date: string; flagged: boolean }>(
    `SELECT date::text, restated_after_sign_off AS flagged
     FROM conciliation.day WHERE signed_off_at IS NOT NULL`,
  );
  const days = new Map(rows.map((row) => [row.date, row]));
  const told = await readRestatedDates(client);
  return [...restated].flatMap(([date, isRestated]) => {
    const day = days.get(date);
    if (day === undefined) return `the seal of ${date} is gone`;
    const isTold = told.has(date);
    return day.flagged === isRestated && isTold === isRestated
      ? []
      : `${date}, restated ${isRestated}: flagged ${day.flagged}, told ${isTold}`;
  });
}

/** The dates that the message of the alert names: single dates, and ranges as `2026-03-02 to 2026-03-05`. */
async function readRestatedDates(client: Client): Promise<Set<string>> {
  const { rows } = await client.query<{ date: string }>(
    `SELECT generate_series(named[1]::date, coalesce(named[2], named[1])::date, interval '1 day')::date::text
              AS date
     FROM conciliation.alert,
          regexp_matches(message, '(\\d{4}-\\d\\d-\\d\\d)(?: to (\\d{4}-\\d\\d-\\d\\d))?', 'g') AS named
     WHERE kind = 'restated_after_sign_off'`,
  );
  return new Set(rows.map(({ date }) => date));
}
