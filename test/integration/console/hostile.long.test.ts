import { beforeAll, expect, test } from 'vitest';
import { hiddenIn, openConsole } from '../../support/console-client.ts';
import { forFile } from '../../support/for-tests.ts';
import { currentTitleId } from '../../support/matching-world.ts';
import { DAY, worldOfFile } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const MARKUP = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>{{1}}`;

const world = worldOfFile();
const console = forFile(() => openConsole(world.database, { fourEyes: false, bookingsFrom: DAY }));
const admin = forFile(() => console.as('admin'));
const reviewer = forFile(() => console.as('reviewer'));
beforeAll(async () => {
  const json = JSON.stringify(MARKUP);
  await world.serve(DAY, [
    titleText({ uid: MARKUP, name: MARKUP, more: `,${json}:${json}` }),
    titleText({ uid: 'plain' }),
    `{"order":{"uid":${json}},"acceptedDate":"${DAY}"}`,
  ]);
});

const state = async () => {
  const [row] = await world.prisma.$queryRaw<Record<string, number>[]>`
    SELECT (SELECT count(*) FROM conciliation.title)::int AS titles,
           (SELECT count(*) FROM conciliation.day)::int AS days,
           (SELECT count(*) FROM conciliation.console_user WHERE role = 'admin')::int AS admins`;
  return row;
};

/** Texts that programs have taken for code: SQL, patterns, markup, paths, and plain rubbish; one or two of each kind. */
const SEEDS = [
  "'",
  '"',
  "' OR '1'='1",
  "'; DROP TABLE conciliation.title; --",
  "1; UPDATE conciliation.console_user SET role = 'admin'",
  "') UNION SELECT password_hash FROM conciliation.console_user --",
  "'||pg_sleep(10)||'",
  '$1',
  '\\',
  "\\'",
  '%',
  '(((((',
  'original_value',
  'id DESC, (SELECT 1)',
  '1e400',
  '-1',
  'NaN',
  '__proto__',
  'constructor',
  '2026-02-30',
  'infinity',
  'today',
  '9999-12-31',
  '../../../../etc/passwd',
  '%00',
  '\u0000',
  '\r\nSet-Cookie: x=y',
  '\ud800',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  'javascript:alert(1)',
  '<!--',
  '999999999999999999999999',
  '1'.repeat(5_000),
  'a'.repeat(5_000),
] as const;

/** Each seed once: as it is, before what ends a statement, or behind other text. */
const INPUTS = SEEDS.map((seed, index) => [seed, `${seed}'--`, `x${seed}`][index % 3] ?? '');
const inputAt = (place: number) => INPUTS[place % INPUTS.length] ?? '';

/** Queries that together have each input as the value of each parameter, another one for each parameter of a query. */
const queriesOf = (names: string): URLSearchParams[] =>
  INPUTS.map((_, turn) => {
    const values = names.split(' ').map((name, index) => [name, inputAt(turn + 9 * index)]);
    return new URLSearchParams(values);
  });

/** What finds nothing would hide the other parameters, so it has queries of its own. */
test.each([
  ['/titles', 'from to status dueFrom dueTo undated payeeOf minValue maxValue sort page'],
  ['/titles', 'search'],
  ['/booking-lines', 'from to state kind days page'],
  ['/schedule', 'dueFrom dueTo page'],
  ['/breaks', 'kind date page'],
  ['/breaks', 'supplier'],
  ['/breaks', 'title payable'],
  ['/', 'to notice'],
  ['/findings', 'state check severity date page'],
  ['/alerts', 'state kind page'],
  ['/sign-offs', 'clean page'],
  ['/audit', 'date page'],
  ['/providers', 'state page'],
  ['/providers', 'q'],
  ['/account-changes', 'state page'],
  ['/account-changes', 'providerKey'],
  ['/provider?id=P-1', 'at'],
] as const)('%s takes or refuses any text for %s and nothing more', async (path, names) => {
  const before = await state();
  const wrong: string[] = [];
  for (const query of queriesOf(names)) {
    const { status, text } = await admin.get(`${path}${path.includes('?') ? '&' : '?'}${query}`);
    if (status !== 200 && status !== 400) wrong.push(`${status}: ${query}`);
    if (/<script>|<img/i.test(text)) wrong.push(`markup: ${query}`);
  }
  expect(wrong).toEqual([]);
  expect(await state()).toEqual(before);
});

test('/api refuses or takes any text, and never fails', async () => {
  const wrong: string[] = [];
  // What is refused hides the other parameters.
  for (const name of ['search', 'sort', 'offset', 'limit', 'minValue', 'dueFrom']) {
    for (const query of queriesOf(name)) {
      const { status } = await admin.get(`/api/titles?from=${DAY}&${query}`);
      if (status !== 200 && status !== 400) wrong.push(`${status}: ${query}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('any place in a path, and a parameter that occurs twice, is answered', async () => {
  const wrong: string[] = [];
  for (const input of INPUTS) {
    const encoded = encodeURIComponent(input.replace(/[\ud800-\udfff]/g, ''));
    const part = encoded.slice(0, 150).replace(/%.?$/, '');
    for (const folder of ['days', 'months', 'titles', 'link', 'assets']) {
      const { status } = await admin.get(`/${folder}/${part}`);
      if (![200, 303, 400, 404].includes(status)) wrong.push(`${folder} ${part}: ${status}`);
    }
  }
  expect(wrong).toEqual([]);
  expect((await admin.get(`/titles?from=${DAY}&search=a&search=b&sort=x&sort=y`)).status).toBe(400);
});

test('text of a platform, a person or a key is escaped on every page', async () => {
  await reviewer.post(`/days/${DAY}/accept-rejects`, { reason: MARKUP });
  const digest = hiddenIn((await reviewer.get(`/days/${DAY}`)).text, 'digest');
  await reviewer.post(`/days/${DAY}/sign-off`, { digest, reason: MARKUP });
  const title = `/titles/${await currentTitleId(world.database, MARKUP)}`;
  const pages = [await admin.post(`/days/${DAY}`), await admin.post(title)];
  for (const path of [
    ...['/', `/days/${DAY}`, `/titles?from=${DAY}&to=${DAY}`, title, '/audit'],
    ...['/providers', '/provider?id=P-1', '/account-changes?state=all'],
  ]) {
    pages.push(await admin.get(path));
  }
  for (const page of pages) {
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/<img|<script>/i);
  }
  const escaped = pages.filter(({ text }) => text.includes('&lt;img src=x onerror=alert(1)>'));
  expect(escaped.length).toBeGreaterThan(4);
});
