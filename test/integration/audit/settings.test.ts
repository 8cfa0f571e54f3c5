import { expect, test } from 'vitest';
import { recordSettings } from '../../../src/base/audit/audit.ts';
import { worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();

const FIRST = { SIGN_OFF_FOUR_EYES: 'on', AUTO_SIGN_OFF: 'off' };
const start = (settings: Readonly<Record<string, string>>, host = 'erp-1') =>
  recordSettings(world.database, settings, host);
const entries = async () => {
  const rows = await world.prisma.auditEntry.findMany({
    where: { action: 'settings.change' },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ actor, details }) => ({ actor, ...(details as object) }));
};

test('a start with another setting than the start before leaves one entry', async () => {
  const told = await Promise.all([1, 2, 3, 4].map(() => start(FIRST)));
  expect(told).toEqual([[], [], [], []]);
  expect(await start(FIRST)).toEqual([]);
  const first = {
    ...{ actor: 'service', host: 'erp-1', settings: FIRST },
    changes: ['SIGN_OFF_FOUR_EYES on', 'AUTO_SIGN_OFF off'],
  };
  expect(await entries()).toEqual([first]);
  const second = { ...FIRST, SIGN_OFF_FOUR_EYES: 'off' };
  await Promise.all([1, 2, 3, 4].map(() => start(second, 'erp-2')));
  const turnedOff = {
    ...{ actor: 'service', host: 'erp-2', settings: second },
    changes: ['SIGN_OFF_FOUR_EYES on → off'],
  };
  expect(await entries()).toEqual([first, turnedOff]);
  expect(await start(FIRST)).toEqual(['SIGN_OFF_FOUR_EYES off → on']);
  expect((await entries()).at(-1)).toMatchObject({ changes: ['SIGN_OFF_FOUR_EYES off → on'] });
});
