/** The output of pages, /api, alerts and commands for responses that were held, or that rejects made incomplete. */
import { beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { deriveAlerts } from '../../../src/features/alerts/derive-alerts.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { pagesForFile } from '../../support/pages-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const { world, operator } = pagesForFile();

let date: CivilDate;
let days = 0;
beforeEach(() => {
  days += 1;
  date = daysFrom(days);
});

const PORTUGUESE = { 'accept-language': 'pt-BR' };
const title = (uid: string, value = '100') => titleText({ uid, date, value });
/** A title that breaks the contract, with an order uid that can be read. */
const broken = (uid: string) => title(uid, '"12,50"');
const titles = (count: number) => Array.from({ length: count }, (_, index) => title(`t${index}`));

const pull = (...texts: string[]) => world.serve(date, texts);

async function showDay(client = operator, headers = {}): Promise<string> {
  const { text } = await client.get(`/days/${date}`, headers);
  return text.replaceAll('&quot;', '"');
}

const command = (...args: string[]) => runCommand(args, environmentOf(world));
const status = () => command('status', '--from', date, '--to', date);
const readDay = async () => (await operator.get(`/api/days/${date}`)).json();

test('a title that may be a rejected one stays current, and pages, /api and status say so', async () => {
  await pull(...titles(10));
  const report = await pull(...titles(9), broken('t9'));
  expect(report).toMatchObject({ withdrawn: 0, withheld: 1, unchanged: 9 });
  const english =
    '1 title is not in the newest response and stays as it was, because a rejected title may be that title.';
  expect(await showDay()).toContain(english);
  expect(await showDay(operator, PORTUGUESE)).toContain(
    '1 título não veio na última resposta e continua como estava, porque pode ser um dos rejeitados.',
  );
  expect(await readDay()).toMatchObject({
    state: 'attention',
    titles: 10,
    withheld: 1,
    hold: null,
  });
  expect((await status()).stdout).toContain(
    `1 title of ${date} is not in the newest response and stays as it was`,
  );

  // An order that cannot be read may be any title.
  await pull(...titles(7), '{"order":{}}');
  expect(await showDay()).toContain(
    '3 titles are not in the newest response and stay as they were',
  );
  expect(await showDay(operator, PORTUGUESE)).toContain(
    '3 títulos não vieram na última resposta e continuam como estavam',
  );
});

test('accepting rejects withdraws no title, and the form says so before', async () => {
  await pull(...titles(10));
  await pull(...titles(9), broken('t9'));
  expect(await showDay()).toMatch(/stay current: accepting the rejects withdraws no title/);
  expect(await showDay(operator, PORTUGUESE)).toContain(
    'aceitar os rejeitados não retira nenhum título',
  );
  const accept = (reason: string) => operator.post(`/days/${date}/accept-rejects`, { reason });
  expect((await accept(' ')).status).toBe(400);
  expect((await accept('known')).status).toBe(303);
  expect(await readDay()).toMatchObject({
    state: 'reconciled',
    titles: 10,
    withdrawn: 0,
    withheld: 1,
  });
  expect(await showDay()).toContain('1 title is not in the newest response');

  await pull(...titles(10));
  expect(await showDay()).not.toContain('not in the newest response');
});

test('a response that would withdraw too much is shown with its changes', async () => {
  await pull(...titles(10));
  const { pullId } = await pull(...titles(6), title('new'));
  const page = await showDay();
  expect(page).toContain(
    `4 of the 10 titles are not in the response, more than the limit allows. Ask the platform`,
  );
  expect(page).toContain(`/pulls/${pullId}/release`);
  expect(page).toContain('not merged; would be 1 · 0 · 4 · 0');
  expect(await showDay(operator, PORTUGUESE)).toContain('não incorporada; seriam 1 · 0 · 4 · 0');
  expect(await readDay()).toMatchObject({
    state: 'held',
    titles: 10,
    hold: { reason: 'withdrawal_limit', titles: 7, withdrawals: 4, faults: [] },
  });
  expect((await status()).stdout).toMatch(
    new RegExp(
      `is held\\. 4 of the 10 titles are not in the response, more than the limit allows\\. .*\\n.*release pull ${pullId} in the console`,
    ),
  );

  await operator.post(`/pulls/${pullId}/release`, { reason: 'cancelled' });
  const released = await showDay();
  expect(released).not.toContain('would be');
  expect(released).toContain('1 · 0 · 4 · 0');
  expect(await readDay()).toMatchObject({ titles: 7, withdrawn: 4, hold: null });
});

test('a response of which no title could be read asks for another pull, and for no release', async () => {
  await pull(...titles(5));
  const others = Array.from({ length: 64 }, (_, index) => broken(`other${index}`));
  const { pullId } = await pull(...others);
  const page = await showDay();
  expect(page).toContain('64 titles came, none could be read');
  expect(page).toContain('originalValue: expected a number, got a string');
  expect(page).not.toMatch(/no title for this date|would withdraw|\/release/);
  const portuguese = await showDay(operator, PORTUGUESE);
  expect(portuguese).toContain('Vieram 64 títulos, e nenhum pôde ser lido');
  expect(portuguese).toContain('Busque de novo quando a plataforma os corrigir.');
  expect(await readDay()).toMatchObject({
    state: 'held',
    hold: { reason: 'unreadable', titles: 64, withdrawals: 5 },
  });

  const ran = await status();
  expect(ran.exit).toBe(3);
  expect(ran.stdout).toContain(`${date} is held: 64 title(s) were received, none could be read.`);
  expect(ran.stdout).toContain(`conciliation pull ${date}`);
  expect(ran.stdout).not.toMatch(/release pull/);
  const pulled = await command('pull', date);
  expect(pulled.exit).toBe(3);
  expect(pulled.stdout).toMatch(/– +– +– +– +\d+ +held, not merged/);
  expect(pulled.stdout).not.toMatch(/release pull|returned no title/);

  await deriveAlerts(world.database, new Date(), {
    timeZone: 'America/Sao_Paulo',
    maxLagDays: 1_000_000,
    maxIdleHours: 1_000_000,
  });
  const alert = await world.database.prisma.alert.findFirstOrThrow({
    where: { dedupeKey: 'day_held:unreadable' },
  });
  expect(alert.message).toBe(
    `${date} is held: the response to pull ${pullId + 1n} has 64 titles, and none could be read`,
  );
  expect((await operator.get(`/pulls/${pullId + 1n}/release`)).text).toContain(
    'Pull again when the platform has corrected them.',
  );
});
