import { expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

const CASES = [
  ['12345678901234567.89', '12345678901234567.89'],
  ['0.1', '0.1'],
  ['1e2', '100'],
  ['1E-7', '0.0000001'],
  ['-0.01', '-0.01'],
  ['100000000000000000000', '100000000000000000000'],
  ['1.10', '1.10'],
  ['0.30000000000000004', '0.30000000000000004'],
] as const;

test.each(CASES)('%s arrives as %s', async (written, stored) => {
  const date = daysFrom(1 + CASES.findIndex(([text]) => text === written));
  world.sandbox.setDayTexts(date, [titleText({ date, value: written, discount: written })]);
  await world.pull(date);
  const rows = await world.database.prisma.$queryRaw`
    SELECT original_value::text AS value, platform_discounted_value::text AS discount
    FROM conciliation.title WHERE accepted_date = ${date}::date`;
  expect(rows).toEqual([{ value: stored, discount: stored }]);
});

test('a hundred thousand values of 0.01 sum to one thousand', async () => {
  world.sandbox.setRawBody(DAY, {
    *body() {
      yield Buffer.from('{"titles":[');
      for (let part = 0; part < 100; part += 1) {
        const titles = Array.from(
          { length: 1000 },
          (_, index) =>
            `{"order":{"uid":"${part}-${index}"},"acceptedDate":"${DAY}","originalValue":0.01}`,
        );
        yield Buffer.from((part === 0 ? '' : ',') + titles.join(','));
      }
      yield Buffer.from(']}');
    },
  });
  await world.pull();
  const day = await world.database.prisma.$queryRaw`
    SELECT title_count, original_value_sum::text AS sum FROM conciliation.day WHERE date = ${DAY}::date`;
  expect(day).toEqual([{ title_count: 100_000, sum: '1000.00' }]);
});
