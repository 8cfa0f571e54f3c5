import { type CivilDate, toCivilDate } from '../domain/business-day.ts';
import { type PullWindow, sweepWindow } from '../domain/plan/pull-plan.ts';
import { contentHash } from '../domain/title.ts';
import { TitleFolds } from '../domain/title-fold.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import { cutTitles, type RawTitle, TitleCutter } from '../reader/cutter.ts';
import { readExactTitle } from '../reader/exact-title.ts';
import { FastReader } from '../reader/fast-reader.ts';
import type { SweepRead } from './sweep-ledger.sql.ts';

export interface ReadFoldsOptions {
  readonly from: CivilDate;
  /** Called again for a title that is later than the date of the last call. */
  readonly today: () => CivilDate;
  /** The versions of the content hashes of dates; all other dates have the newest. */
  readonly versions: ReadonlyMap<CivilDate, number>;
}

/**
 * Adds up the titles of a response by accepted date, with the reader of the pulls. Memory does not
 * grow with the response: there is one fold for each date from `from` to today.
 * @throws PlatformContractError when the response is not the documented document
 * @throws PlatformUnavailableError when the transfer broke off
 */
export async function readFolds(
  response: ConciliationResponse,
  { from, today, versions }: ReadFoldsOptions,
): Promise<SweepRead> {
  const folds = new TitleFolds(versions);
  let lastDate = today();
  const fastReader = new FastReader(null, { from, to: lastDate }, folds);
  const cutter = new TitleCutter(fastReader);
  const outside = { undated: 0, future: 0, early: 0 };

  const isFuture = (date: CivilDate) => {
    if (date > lastDate) lastDate = today();
    return date > lastDate;
  };
  const addTitle = (raw: RawTitle) => {
    if (raw.truncated) {
      outside.undated += 1;
      return;
    }
    const check = readExactTitle(raw.bytes, ANY_DATE, raw.offset);
    const date = check.ok ? check.title.accepted_date : check.acceptedDate;
    if (date === null) outside.undated += 1;
    else if (date < from) outside.early += 1;
    else if (isFuture(date)) outside.future += 1;
    else if (check.ok) {
      const fold = folds.at(date);
      fold.addDigits(contentHash(check.title, fold.version));
      if (check.drift.length > 0) fastReader.admitDrift(check.title);
    }
  };

  for await (const titles of cutTitles(response, cutter)) {
    for (const raw of titles) addTitle(raw);
  }
  fastReader.release();
  return { folds, titles: cutter.titlesRead, ...outside };
}

/** Also reads the dates of titles outside the requested window. */
const ANY_DATE: PullWindow = sweepWindow(toCivilDate('0001-01-01'));
