import { type CivilDate, toCivilDate } from '../domain/business-day.ts';
import { type PullWindow, sweepWindow } from '../domain/pull-plan.ts';
import { contentHash } from '../domain/title.ts';
import { TitleFolds } from '../domain/title-fold.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import { checkTitle } from '../platform/title-contract.ts';
import { parseExactJson } from '../reader/exact-json.ts';
import { FastReader } from '../reader/fast-reader.ts';
import { endDocument, type PullProgress } from '../reader/response-rows.ts';
import { type RawTitle, TitleReader } from '../reader/title-stream.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import { takeTurns } from '../runtime/turns.ts';
import type { SweepRead } from './sweep-ledger.ts';

export interface ReadFoldsOptions {
  readonly from: CivilDate;
  /** Asked again whenever a title lies after the date that it last said. */
  readonly today: () => CivilDate;
  /** Of the content hashes of dates; all others have the newest. */
  readonly versions: ReadonlyMap<CivilDate, number>;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

/**
 * Adds up the titles of an answer by accepted date, with the reader that pulls have. Memory does not grow
 * with the answer: there is one fold for each date from `from` to today, whatever dates the titles name.
 *
 * @throws PlatformContractError the answer is not the documented document
 * @throws PlatformUnavailableError the transfer broke off
 */
export async function readFolds(
  response: ConciliationResponse,
  { from, today, versions, onProgress }: ReadFoldsOptions,
): Promise<SweepRead> {
  const folds = new TitleFolds(versions);
  let lastDate = today();
  const fastReader = new FastReader(null, { from, to: lastDate }, folds);
  const reader = new TitleReader(fastReader);
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
    const { value, problems } = parseExactJson(raw.bytes);
    const check = checkTitle(value, ANY_DATE);
    const date = check.ok ? check.title.accepted_date : check.acceptedDate;
    if (date === null) outside.undated += 1;
    else if (date < from) outside.early += 1;
    else if (isFuture(date)) outside.future += 1;
    else if (check.ok && problems.length === 0) {
      const fold = folds.at(date);
      fold.addDigits(contentHash(check.title, fold.version));
      if (check.drift.length > 0) fastReader.admitDrift(check.title);
    }
  };

  const giveTurn = takeTurns();
  for await (const chunk of response.chunks) {
    reachFaultPoint('mid-body');
    for (const raw of reader.push(chunk)) addTitle(raw);
    onProgress?.({ titles: reader.titlesRead, bytes: response.bytesReceived() });
    await giveTurn();
  }
  endDocument(reader, response.bytesReceived());
  fastReader.release();
  return { folds, titles: reader.titlesRead, ...outside };
}

/** So that a title's date is known also where it was not asked for. */
const ANY_DATE: PullWindow = sweepWindow(toCivilDate('0001-01-01'));
