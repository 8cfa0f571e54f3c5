import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isolateCulprits } from '../../../src/features/providers/push-providers.ts';

/** A platform that refuses each request with a faulty item, and the received requests. */
function platformWith(culprits: ReadonlySet<number>) {
  const asked: (readonly number[])[] = [];
  return {
    asked,
    ask: async (items: readonly number[]) => {
      asked.push(items);
      return items.some((item) => culprits.has(item)) ? ('refused' as const) : ('taken' as const);
    },
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('isolateCulprits', () => {
  it('asks once where nothing is wrong, and not at all for nothing', async () => {
    const platform = platformWith(new Set());
    await isolateCulprits(upTo(100), platform.ask);
    await isolateCulprits([], platform.ask);
    expect(platform.asked).toEqual([upTo(100)]);
  });

  it('asks for each culprit alone and gets every other item taken, in few requests', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 100 }),
        fc.uniqueArray(fc.nat({ max: 99 }), { maxLength: 100 }),
        async (count, chosen) => {
          const culprits = new Set(chosen.filter((item) => item < count));
          const platform = platformWith(culprits);
          await isolateCulprits(upTo(count), platform.ask);

          const taken = platform.asked.filter((items) => !items.some((item) => culprits.has(item)));
          expect(taken.flat().sort((a, b) => a - b)).toEqual(
            upTo(count).filter((item) => !culprits.has(item)),
          );
          for (const culprit of culprits) expect(platform.asked).toContainEqual([culprit]);
          const perCulprit = 2 * Math.ceil(Math.log2(count));
          expect(platform.asked.length).toBeLessThanOrEqual(1 + culprits.size * perCulprit);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('judges nothing unasked where the platform refuses for another reason', async () => {
    const asked: number[][] = [];
    const refusals = [true, true];
    await isolateCulprits(upTo(4), async (items) => {
      asked.push([...items]);
      return (refusals.shift() ?? false) ? 'refused' : 'taken';
    });
    // The first half is refused at first, its items are taken one by one.
    expect(asked).toEqual([[0, 1, 2, 3], [0, 1], [0], [1], [2, 3]]);
  });

  it('ends with the error of a request', async () => {
    const failing = isolateCulprits(upTo(3), async () => {
      throw new Error('away');
    });
    await expect(failing).rejects.toThrow('away');
  });
});
