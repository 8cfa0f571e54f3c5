import type { Client } from 'pg';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import {
  DIGEST_SQL,
  digestOf,
  ROW_COLUMNS,
  rowSql,
  rowText,
  type ServedDays,
} from './served-days.ts';
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

/** (1) A date equals the platform's answer, as a multiset and with exact amounts. Returns its state. */
export async function checkDay(
  client: Client,
  date: CivilDate,
  served: ServedDays,
  violations: Violations,
): Promise<string | null | undefined> {
  const day = await readDay(client, date);
  const wanted = served.latest(date);
  if (day?.digest !== wanted.digest) {
    violations.add(1, `${date}: ${day?.titles} titles, not the ${wanted.titles.length} served`);
  }
  return day?.state;
}

/** (1) Each date is reconciled and equals the answer, and the checkpoint is at the last one. */
export async function checkDays(
  client: Client,
  served: ServedDays,
  violations: Violations,
): Promise<void> {
  for (const date of served.dates) {
    const state = await checkDay(client, date, served, violations);
    if (state !== 'reconciled') violations.add(1, `${date} is ${state}, not reconciled`);
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
  const { rows } = await client.query<{ date: string; flagged: boolean }>(`
    SELECT date::text, restated_after_sign_off AS flagged
    FROM conciliation.day WHERE signed_off_at IS NOT NULL`);
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
  const { rows } = await client.query<{ date: string }>(`
    SELECT generate_series(named[1]::date, coalesce(named[2], named[1])::date, interval '1 day')::date::text
             AS date
    FROM conciliation.alert,
         regexp_matches(message, '(\\d{4}-\\d\\d-\\d\\d)(?: to (\\d{4}-\\d\\d-\\d\\d))?', 'g') AS named
    WHERE kind = 'restated_after_sign_off'`);
  return new Set(rows.map(({ date }) => date));
}

type Columns = Record<string, string | null>;

interface TitleRow {
  readonly id: string;
  readonly date: string;
  readonly pull: string;
  readonly columns: Columns;
}

interface RevisionRow {
  readonly title: string;
  readonly revision: number;
  readonly pull: string;
  readonly before: Columns;
  readonly after: Columns;
}

interface MergeRow {
  readonly date: string;
  readonly pull: string;
}

/** Values as text on both sides, so that no digit is lost on the way here. */
const asText = (json: string) =>
  `(SELECT jsonb_object_agg(key, value) FROM jsonb_each_text(${json}))`;

const COLUMNS = ['status', ...ROW_COLUMNS];

const TITLES = `
  SELECT id::text, accepted_date::text AS date, first_pull_id::text AS pull,
         jsonb_build_object(${COLUMNS.map((name) => `'${name}', ${name}::text`).join(', ')}) AS columns
  FROM conciliation.title`;

const REVISIONS = `
  SELECT title_id::text AS title, revision, pull_id::text AS pull, ${asText('before')} AS before,
         ${asText('after')} AS after
  FROM conciliation.title_revision ORDER BY title_id, revision`;

/** Fences are in the order of the fetches, and of two merges into a date the newer fetch is the later. */
const MERGES = `
  SELECT date::text AS date, id::text AS pull FROM conciliation.pull
  WHERE state IN ('merged', 'unchanged') ORDER BY fence`;

/** One title's states: the first, then one after each pull that changed it. */
interface Life {
  readonly date: string;
  readonly states: { readonly pull: string; readonly columns: Columns }[];
}

/**
 * Folds the revisions of every title back from its row, and puts the days together again as they were
 * after each pull: each must be an answer of the platform, and the one that a reader saw at the time.
 */
export async function checkHistory(
  client: Client,
  served: ServedDays,
  statesSeen: ReadonlyMap<string, string>,
  violations: Violations,
): Promise<void> {
  const { rows: titles } = await client.query<TitleRow>(TITLES);
  const { rows: revisions } = await client.query<RevisionRow>(REVISIONS);
  const { rows: merges } = await client.query<MergeRow>(MERGES);
  const lives = titles.map((title) =>
    foldBack(
      title,
      revisions.filter((revision) => revision.title === title.id),
      violations,
    ),
  );
  for (const date of new Set(merges.map((merge) => merge.date))) {
    const pulls = merges.filter((merge) => merge.date === date).map(({ pull }) => pull);
    const ofDate = lives.filter((life) => life.date === date);
    let earlier = -1;
    for (const [rank, pull] of pulls.entries()) {
      const until = new Set(pulls.slice(0, rank + 1));
      const digest = digestOf(ofDate.flatMap((life) => stateAfter(life, until)));
      const version = served.versionOf(date, digest);
      if (version === -1) violations.add(4, `${date} after pull ${pull} folds to no answer`);
      if (version < earlier)
        violations.add(4, `${date} after pull ${pull} folds to an older answer`);
      earlier = version;
      const seen = statesSeen.get(`${date}/${pull}`);
      if (seen !== undefined && seen !== digest) {
        violations.add(4, `${date} after pull ${pull} folds to another state than was seen`);
      }
    }
    if (ofDate.some(({ states }) => states.some(({ pull }) => !pulls.includes(pull)))) {
      violations.add(4, `${date} was changed by a pull that did not merge into it`);
    }
  }
}

function foldBack(
  title: TitleRow,
  revisions: readonly RevisionRow[],
  violations: Violations,
): Life {
  const states: Life['states'] = [];
  let columns = title.columns;
  for (const [index, { pull, before, after }] of [...revisions.entries()].reverse()) {
    if (revisions[index]?.revision !== index + 1) {
      violations.add(4, `title ${title.id}: its revisions are not numbered without a gap`);
    }
    for (const [name, value] of Object.entries(after)) {
      if (COLUMNS.includes(name) && columns[name] !== value) {
        violations.add(
          4,
          `title ${title.id}, revision ${index + 1}: ${name} is not what it became`,
        );
      }
    }
    states.unshift({ pull, columns });
    columns = { ...columns, ...before };
  }
  if (columns['status'] !== 'current') violations.add(4, `title ${title.id} began as withdrawn`);
  states.unshift({ pull: title.pull, columns });
  return { date: title.date, states };
}

/** Its row after those pulls, or none where it was not there or withdrawn. */
function stateAfter({ states }: Life, pulls: ReadonlySet<string>): string[] {
  const state = states.findLast(({ pull }) => pulls.has(pull));
  return state?.columns['status'] === 'current' ? [rowText(state.columns)] : [];
}
