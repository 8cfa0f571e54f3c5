import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Occurrences } from '../../../src/domain/occurrences.ts';

const hashOf = (name: number | string) => createHash('md5').update(String(name)).digest('binary');

test('numbers equal identities from 1, each by itself', () => {
  const occurrences = new Occurrences();
  const names = ['a', 'b', 'a', 'c', 'a', 'b'];
  expect(names.map((name) => occurrences.next(hashOf(name)))).toEqual([1, 1, 2, 1, 3, 2]);
});

test('knows each of a hundred thousand identities again', () => {
  const occurrences = new Occurrences();
  const count = 100_000;
  for (const round of [1, 2, 3]) {
    for (let name = 0; name < count; name += 1) {
      if (occurrences.next(hashOf(name)) !== round) throw new Error(`${name} in round ${round}`);
    }
  }
});

test('an identity of zeros is one like any other', () => {
  const occurrences = new Occurrences();
  const zeros = '\0'.repeat(16);
  expect([occurrences.next(zeros), occurrences.next(zeros)]).toEqual([1, 2]);
});
