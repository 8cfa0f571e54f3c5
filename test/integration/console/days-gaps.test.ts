import { beforeAll, expect, test } from 'vitest';
import { pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const { world, viewer } = pagesForFile();
beforeAll(async () => {
  for (const [offset, value] of [
    [0, '310.50'],
    [1, '100'],
    [5, '200'],
    [7, '50'],
  ] as const) {
    const date = daysFrom(offset, DAY);
    await world.serve(date, [titleText({ uid: 'a', date, value })]);
  }
});

const page = async (language: string) =>
  (await viewer.get('/?to=2026-03', { 'accept-language': language })).text;

test('the calendar has state, titles and value of each day, and no link for other dates', async () => {
  const cells = async (language: string) => {
    const month =
      /<caption>(?:March|Março) (?:de )?2026<[\s\S]*?<\/table>/.exec(await page(language))?.[0] ??
      '';
    const days = [...month.matchAll(/class="cell [^"]*" href="\/days\/([\d-]+)" title="([^"]*)"/g)];
    const absent = [...month.matchAll(/class="cell is-absent">(\d+)</g)].map(([, day]) =>
      Number(day),
    );
    return { days: days.map(([, date, title]) => [date, title]), absent };
  };
  const english = await cells('en');
  expect(english.days).toEqual([
    [daysFrom(0, DAY), '2 Mar 2026: Complete, 1 title · 310.50'],
    [daysFrom(1, DAY), '3 Mar 2026: Complete, 1 title · 100.00'],
    [daysFrom(5, DAY), '7 Mar 2026: Complete, 1 title · 200.00'],
    [daysFrom(7, DAY), '9 Mar 2026: Complete, 1 title · 50.00'],
  ]);
  expect(english.absent).toEqual(
    Array.from({ length: 31 }, (_, index) => index + 1).filter(
      (day) => ![2, 3, 7, 9].includes(day),
    ),
  );
  const portuguese = await cells('pt-BR');
  expect(portuguese.absent).toEqual(english.absent);
  expect(portuguese.days[0]?.[1]).toBe('02/03/2026: Completo, 1 título · 310,50');
});
