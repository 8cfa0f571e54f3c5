import { expect, test } from 'vitest';
import { countAsOne, type Identity, type Person } from '../../../src/domain/person.ts';

const ana: Person = { userId: 1, name: 'ana' };
const bia: Person = { userId: 2, name: 'bia' };
const alma: Person = { userId: 3, name: 'alma' };
const operator: Person = { userId: null, name: 'command line: root' };

test.each<[string, Identity, Identity, boolean]>([
  ['one user', [ana], [ana], true],
  ['two users', [ana], [bia], false],
  ['one user under two names', [ana], [{ userId: 1, name: 'anna' }], true],
  ['two users of one name', [ana], [{ userId: 2, name: 'ana' }], false],
  ['a user and the maker of the link', [bia, alma], [alma], true],
  ['the maker of the link and the user', [alma], [bia, alma], true],
  ['a user and a person who made no link', [bia, alma], [ana], false],
  ['two users with links of one administrator', [bia, alma], [ana, alma], false],
  ['one account at the command line', [operator], [operator], true],
  ['a user named like an account', [{ userId: 4, name: operator.name }], [operator], false],
  ['a key and the account that made the key', [ana, operator], [operator], true],
])('%s', (_name, one, other, expected) => {
  expect(countAsOne(one, other)).toBe(expected);
});
