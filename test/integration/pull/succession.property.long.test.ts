/** A title that is withdrawn and one that is inserted in one merge are linked where the pair is unique. */
import { expect, test } from 'vitest';
import { createSeededRandom, type SeededRandom } from '../../../src/demo/synthetic-titles.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { tryHistories } from '../../support/random-runs.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

/** A short identity of a title: order, provider, value. */
type Short = readonly [string, string, number];

const textOf = (date: typeof DAY, [uid, code, value]: Short) =>
  titleText({ uid, date, value: `${value}.00`, code });

const keyOf = ([uid, provider]: Short) => `${uid}/${provider}`;
const nameOf = (title: Short) => title.join('/');

/** The links that a merge from one multiset of titles to another must make: pairs that are unique on both sides. */
function expectedLinks(before: readonly Short[], after: readonly Short[]): string[] {
  const rest = (from: readonly Short[], other: readonly Short[]) => {
    const left = other.map(nameOf);
    return from.filter((title) => {
      const index = left.indexOf(nameOf(title));
      if (index >= 0) left.splice(index, 1);
      return index < 0;
    });
  };
  const [gone, came] = [rest(before, after), rest(after, before)];
  return gone
    .filter((title) => gone.filter((other) => keyOf(other) === keyOf(title)).length === 1)
    .flatMap((title) => {
      const successors = came.filter((other) => keyOf(other) === keyOf(title));
      return successors.length === 1 ? [`${nameOf(title)} -> ${successors.map(nameOf)}`] : [];
    })
    .sort();
}

const linksOf = async (pullId: bigint) => {
  const links = await world.prisma.$queryRaw<{ link: string }[]>`
    SELECT concat_ws('/', gone.order_uid, gone.provider_external_id, gone.original_value::int) || ' -> '
           || concat_ws('/', came.order_uid, came.provider_external_id, came.original_value::int) AS link
    FROM conciliation.title_succession AS link
    JOIN conciliation.title AS gone ON gone.id = link.predecessor_id
    JOIN conciliation.title AS came ON came.id = link.title_id
    WHERE link.pull_id = ${pullId}`;
  return links.map(({ link }) => link).sort();
};

test('after any restatement exactly the unique pairs are linked, in any order of the response', async () => {
  const titlesFrom = (next: SeededRandom): Short[] =>
    Array.from({ length: next(7) + 1 }, () => [
      ['a', 'b'][next(2)] ?? '',
      ['P-1', 'P-2'][next(2)] ?? '',
      next(3) + 1,
    ]);
  let linked = 0;
  const restatements = await tryHistories(100, async (round) => {
    const next = createSeededRandom(`${round}`);
    // A restored title is not a new title, so each hundred has separate orders.
    const date = daysFrom(round % 100, DAY);
    const uid = ([order, ...rest]: Short): Short => [`${order}${Math.floor(round / 100)}`, ...rest];
    const [before, after] = [titlesFrom(next).map(uid), titlesFrom(next).map(uid)];
    const pull = async (shorts: readonly Short[]) => {
      const texts = shorts.map((title) => textOf(date, title));
      return world.serve(date, texts, { withdrawalLimitPercent: 100 });
    };
    await pull(before);
    const { pullId } = await pull(next(2) === 0 ? after : after.toReversed());
    const expected = expectedLinks(before, after);
    linked += expected.length;
    expect(await linksOf(pullId)).toEqual(expected);
  });
  expect(linked).toBeGreaterThan(restatements / 5);
}, 0);
