import { KnownTitles, rawHash } from '../../src/domain/known-titles.ts';
import type { PullWindow } from '../../src/domain/pull-plan.ts';
import { TITLE_COLUMNS } from '../../src/domain/title.ts';
import { PlatformContractError } from '../../src/errors.ts';
import { checkTitle } from '../../src/platform/title-contract.ts';
import { parseExactJson } from '../../src/pull/exact-json.ts';
import { FastReader } from '../../src/pull/fast-reader.ts';
import { KnownTexts } from '../../src/pull/known-texts.ts';
import { type RawTitle, TitleReader } from '../../src/pull/title-stream.ts';
import { encodeTitle, type TitleTarget } from '../../src/staging/stage.ts';
import { canonicalOf, type SlowTitle } from './slow-titles.ts';

const STAGED: TitleTarget = { table: 'staged_title', fence: 1n };

/**
 * The rows for `staged_title`, by ordinal; null where a title was rejected. All null where the answer
 * was refused. As stageResponse puts the parts together, without a database.
 */
export function readRows(
  chunks: readonly Buffer[],
  window: PullWindow,
  isFast: boolean,
): (string | null)[] | null {
  const fast = isFast ? new FastReader(STAGED, window, nothingKnown(window)) : null;
  const reader = new TitleReader(fast);
  const rows: (string | null)[] = [];
  const readOrdinary = (raw: RawTitle) => {
    rows[raw.ordinal] = null;
    if (raw.truncated) return;
    const { value, problems } = parseExactJson(raw.bytes);
    const check = checkTitle(value, window);
    if (!check.ok || problems.length > 0) return;
    if (check.drift.length > 0) fast?.admitDrift(check.title);
    const textHash = rawHash(raw.bytes).toString('hex');
    rows[raw.ordinal] = encodeTitle(STAGED, raw.ordinal, check.title, textHash);
  };
  try {
    for (const chunk of chunks) {
      for (const raw of reader.push(chunk)) readOrdinary(raw);
      for (const row of rowsIn(fast?.takeRows().toString() ?? '')) {
        rows[Number(row.split(',', 2)[1])] = row;
      }
    }
    reader.end();
  } catch (error) {
    if (error instanceof PlatformContractError) return null;
    throw error;
  }
  if (rows.length !== reader.titlesRead) throw new Error('a title was lost');
  return rows;
}

function nothingKnown(window: PullWindow): KnownTexts {
  return new KnownTexts({
    dates: [{ date: window.from, baseChangedAt: '' }],
    titles: new KnownTitles(0),
  });
}

/** Lines of CSV, of which a quoted cell may hold line breaks. */
function rowsIn(csv: string): string[] {
  const rows: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < csv.length; at += 1) {
    const character = csv.charAt(at);
    if (character === '"') isQuoted = !isQuoted;
    else if (character === '\n' && !isQuoted) {
      rows.push(csv.slice(start, at + 1));
      start = at + 1;
    }
  }
  return rows;
}

/** What PostgreSQL's COPY reads of a row: nothing is null, quotes are text. */
export function toSlowTitle(row: string): SlowTitle {
  const cells = row.matchAll(/(?:"((?:[^"]|"")*)"|([^,"\n]*))(?:,|\n)/g);
  const values = Array.from(cells, ([, quoted, bare]) =>
    quoted === undefined ? bare || null : quoted.replaceAll('""', '"'),
  );
  const title: Record<string, string | null> = {};
  for (const [index, column] of TITLE_COLUMNS.entries()) title[column] = values[2 + index] ?? null;
  const extra = title['extra'] ?? null;
  return { ...title, extra: extra === null ? null : canonicalOf(extra) };
}
