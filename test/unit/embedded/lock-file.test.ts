import { expect, test } from 'vitest';
import { identifyCommand } from '../../../src/embedded/lock-file.ts';

const OWN = '/srv/data/postgres';
const NAMED = '/srv/original/postgres';

test.each([
  ['/opt/bin/postgres -D /srv/data/postgres -c port=5432', 'server'],
  ['/opt/bin/postgres -D /srv/original/postgres -c port=5432', 'server of the named folder'],
  ['/opt/bin/postgres -D /srv/data/postgres.old', 'unclear'],
  ['/opt/bin/postgres', 'unclear'],
  ['node bin/conciliation.js start', 'other program'],
  ['', 'other program'],
])('a process with the command line "%s" is taken for: %s', (command, identity) => {
  expect(identifyCommand(command, OWN, NAMED)).toBe(identity);
});
