import { beforeAll, expect, test } from 'vitest';
import { openConsole } from '../../support/console-client.ts';
import { forFile } from '../../support/for-tests.ts';
import { HOSTILE_INPUTS } from '../../support/hostile-inputs.ts';
import { DAY, openPullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const MARKUP = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>{{1}}`;

const world = forFile(openPullWorld);
const console = forFile(() => openConsole(world.database, { fourEyes: false, bookingsFrom: DAY }));
const admin = forFile(() => console.as('admin'));
const reviewer = forFile(() => console.as('reviewer'));
beforeAll(async () => {
  world.sandbox.setDayTexts(DAY, [
    titleText({
      uid: MARKUP,
      name: MARKUP,
      more: `,${JSON.stringify(MARKUP)}:${JSON.stringify(MARKUP)}`,
    }),
    titleText({ uid: 'plain' }),
    `{"order":{"uid":${JSON.stringify(MARKUP)}},"acceptedDate":"${DAY}"}`,
  ]);
  await world.pull(DAY);
});

const state = async () => {
  const [row] = await world.database.prisma.$queryRaw<Record<string, number>[]>`
    SELECT (SELECT count(*) FROM conciliation.title)::int AS titles,
           (SELECT count(*) FROM conciliation.day)::int AS days,
           (SELECT count(*) FROM conciliation.console_user WHERE role = 'admin')::int AS admins`;
  return row;
};

/** Every seed in one of its three forms, in the next one for the next parameter. */
let turn = 0;
function nextInputs(): readonly string[] {
  expect(new Set(HOSTILE_INPUTS).size).toBeGreaterThanOrEqual(200);
  const seeds = HOSTILE_INPUTS.length / 3;
  turn += 1;
  return HOSTILE_INPUTS.filter(
    (_, index) => ((index % seeds) + Math.floor(index / seeds) + turn) % 3 === 0,
  );
}

test.each([
  ...[
    [
      '/titles',
      'from to order provider agent status dueFrom dueTo undated payeeOf minValue maxValue sort page',
    ],
    ['/booking-lines', 'from to state kind days page'],
    ['/schedule', 'view date page'],
    ['/breaks', 'kind date supplier page'],
    ['/', 'to notice'],
    ['/findings', 'state check severity date page'],
    ['/restated', 'measure by page'],
    ['/alerts', 'state kind page'],
    ['/sign-offs', 'clean page select'],
    ['/sign-offs/preview', 'day'],
    ['/audit', 'before date page'],
    ['/providers', 'q state page'],
    ['/account-changes', 'state page'],
    ['/provider?id=P-1', 'accounts changes at'],
  ].flatMap(([path = '', names = '']) => names.split(' ').map((name) => [path, name] as const)),
])('%s?%s takes any text for a value and nothing more', async (path, name) => {
  const before = await state();
  const wrong: string[] = [];
  for (const input of nextInputs()) {
    const answer = await (path === '/sign-offs/preview' ? reviewer : admin).get(
      `${path}${path?.includes('?') ? '&' : '?'}${new URLSearchParams({ [name]: input })}`,
    );
    if (answer.status !== 200)
      wrong.push(`${JSON.stringify(input.slice(0, 40))}: ${answer.status}`);
    if (/<script>|<img/i.test(answer.text)) wrong.push(`${input.slice(0, 40)}: markup`);
  }
  expect(wrong).toEqual([]);
  expect(await state()).toEqual(before);
});

test.each(['title', 'payable'])(
  'the page of a break finds nothing by any text as its %s',
  async (name) => {
    for (const input of nextInputs()) {
      const answer = await admin.get(
        `/break?${new URLSearchParams({ kind: 'in_doubt', [name]: input })}`,
      );
      expect(answer.status).toBe(404);
      expect(answer.text).not.toMatch(/<script>|<img/i);
    }
  },
);

test.each(['order', 'sort', 'offset', 'limit', 'minValue', 'dueFrom'])(
  '/api refuses or takes any %s, and never fails',
  async (name) => {
    const wrong: string[] = [];
    for (const input of nextInputs()) {
      const query = new URLSearchParams({ [name]: input });
      const { status } = await admin.get(`/api/titles?from=${DAY}&${query}`);
      if (status !== 200 && status !== 400) wrong.push(`${input.slice(0, 40)}: ${status}`);
    }
    expect(wrong).toEqual([]);
  },
);

test('any place in a path, and a parameter that occurs twice, is answered', async () => {
  const wrong: string[] = [];
  for (const input of nextInputs()) {
    const part = encodeURIComponent(input.replace(/[\ud800-\udfff]/g, ''))
      .slice(0, 150)
      .replace(/%.?$/, '');
    for (const folder of ['days', 'months', 'titles', 'backfills', 'link', 'assets']) {
      const { status } = await admin.get(`/${folder}/${part}`);
      if (![200, 303, 400, 404].includes(status)) wrong.push(`${folder} ${part}: ${status}`);
    }
  }
  expect(wrong).toEqual([]);
  expect((await admin.get(`/titles?from=${DAY}&order=a&order=b&sort=x&sort=y`)).status).toBe(200);
});

test('text of a platform, a person or a key is escaped on every page', async () => {
  await reviewer.post(`/days/${DAY}/accept-rejects`, { reason: MARKUP });
  const day = await reviewer.get(`/days/${DAY}`);
  const digest = /name="digest" value="([^"]+)"/.exec(day.text)?.[1] ?? '';
  await reviewer.post(`/days/${DAY}/sign-off`, { digest, reason: MARKUP });
  const titles = await world.database.prisma.title.findMany({ where: { orderUid: MARKUP } });
  const pages = [
    await admin.post(`/days/${DAY}/rejects`),
    await admin.post(`/titles/${titles[0]?.id}`),
  ];
  for (const path of [
    ...['/', `/days/${DAY}`, `/titles?from=${DAY}&to=${DAY}`, `/titles/${titles[0]?.id}`, '/audit'],
    ...['/providers', '/provider?id=P-1', '/account-changes?state=all'],
  ]) {
    pages.push(await admin.get(path));
  }
  for (const page of pages) {
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/<img|<script>/i);
  }
  expect(
    pages.filter(({ text }) => text.includes('&lt;img src=x onerror=alert(1)>')).length,
  ).toBeGreaterThan(4);
});
