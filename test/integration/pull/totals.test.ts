import { expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

test('the sums of a day are over its current titles, without withdrawn ones', async () => {
  const titles = Array.from({ length: 10 }, (_, index) =>
    titleText({ date: DAY, uid: `order-${index}`, value: `${index + 1}.01` }),
  );
  world.sandbox.setDayTexts(DAY, titles);
  await world.pull();
  world.sandbox.setDayTexts(DAY, titles.slice(1));
  await world.pull();
  const rows = await world.database.prisma.$queryRaw`
    SELECT title_count AS titles, withdrawn_count AS withdrawn, original_value_sum::text AS sum
    FROM conciliation.day`;
  expect(rows).toEqual([{ titles: 9, withdrawn: 1, sum: '54.09' }]);
});
