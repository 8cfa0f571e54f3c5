import type { Client } from 'pg';
import { digestOf, ROW_COLUMNS, rowText } from './platform-titles.ts';
import type { ServedDays } from './served-days.ts';
import type { Violations } from './violations.ts';

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
