/** The view of people and consumers on a title that replaces another title. */
import { expect, test } from 'vitest';
import { openConsole } from '../../support/console-client.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

test('the page, the feed and the API show one restated title', async () => {
  const date = daysFrom(150, DAY);
  const serve = (due: string) =>
    world.sandbox.setDayTexts(date, [
      titleText({ uid: 'one', date }).replace(
        /"anticipatedDueDate":"[^"]*"/,
        `"anticipatedDueDate":"${due}"`,
      ),
    ]);
  serve('2027-01-31');
  await world.pull(date, { withdrawalLimitPercent: 100 });
  serve('2027-02-28');
  await world.pull(date, { withdrawalLimitPercent: 100 });
  const [gone, came] = await world.database.prisma.title.findMany({
    where: { acceptedDate: date },
    orderBy: { id: 'asc' },
  });
  const feed = await world.database.prisma.$queryRaw<object[]>`
    SELECT change_kind AS kind, predecessor_id AS "from", successor_id AS "to"
    FROM conciliation.title_feed WHERE accepted_date = ${date}::date ORDER BY change_seq`;
  expect(feed.slice(-2)).toEqual(
    expect.arrayContaining([
      { kind: 'withdrawn', from: null, to: came?.id },
      { kind: 'inserted', from: gone?.id, to: null },
    ]),
  );
  const console = await openConsole(world.database);
  try {
    const viewer = await console.as('viewer');
    const page = await viewer.get(`/titles/${came?.id}`, { 'accept-language': 'pt-BR' });
    expect(page.text).toMatch(
      /Substitui outro título do pedido:[\s\S]*31\/01\/2027[\s\S]*→[\s\S]*28\/02\/2027/,
    );
    const earlier = await viewer.get(`/titles/${gone?.id}`);
    expect(earlier.text).toContain('Replaced by another title of the order:');
    expect((await viewer.get(`/api/titles/${came?.id}`)).json()).toMatchObject({
      predecessor: { id: Number(gone?.id), dueDate: '2027-01-31' },
      successor: null,
    });
  } finally {
    await console.close();
  }
});

test('a title whose buyer is written in another way replaces the title with the other writing', async () => {
  const date = daysFrom(152, DAY);
  const serve = async (...titles: (readonly [uid: string, buyer: string])[]) => {
    world.sandbox.setDayTexts(
      date,
      titles.map(([uid, buyer]) =>
        titleText({ uid, date }).replace('90021382000122', JSON.stringify(buyer).slice(1, -1)),
      ),
    );
    await world.pull(date, { withdrawalLimitPercent: 100 });
  };
  await serve(['one', '90021382000122'], ['two', '90021382000122'], ['three', '00000000000191']);
  await serve(['one', '90.021.382/0001-22'], ['two', '11444777000161'], ['three', '191']);
  const links = await world.database.prisma.$queryRaw<object[]>`
    SELECT came.order_uid AS uid, gone.buyer_identification AS before, came.buyer_identification AS after
    FROM conciliation.title_succession AS link
    JOIN conciliation.title AS came ON came.id = link.title_id
    JOIN conciliation.title AS gone ON gone.id = link.predecessor_id
    WHERE link.accepted_date = ${date}::date ORDER BY came.order_uid`;
  expect(links).toEqual([
    { uid: 'one', before: '90021382000122', after: '90.021.382/0001-22' },
    { uid: 'three', before: '00000000000191', after: '191' },
  ]);
});
