/** What every declared list does, on the list of findings: filter, tabs, numbered pages, files and the API. */
import { beforeAll, expect, test } from 'vitest';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { DEFAULT_RULES } from '../../support/check-rules.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { readWorkbook } from '../../unit/export/workbook-reader.ts';

const NEXT = daysFrom(1);
const TITLES = 60;
const portuguese = { 'accept-language': 'pt-BR' };

const pages = pagesForFile();

beforeAll(async () => {
  const { world } = pages;
  for (const date of [DAY, NEXT]) {
    const count = date === DAY ? TITLES : 1;
    await world.serve(
      date,
      Array.from({ length: count }, (_, index) =>
        titleText({ uid: `=${date}-${index}`, date, value: index === 0 ? '-1234.5' : '0.00' }),
      ),
    );
  }
  await checkDays(world.database, DEFAULT_RULES);
});

test('the page shows a part, says of how many, and links to the next one with the same filter', async () => {
  const { text } = await pages.viewer.get(`/findings?check=value_not_positive&date=${DAY}`);
  expect(text).toContain('1 to 50 of 60');
  const next = `/findings?date=${DAY}&amp;check=value_not_positive&amp;page=2`;
  expect(text).toContain(`<a rel="next" href="${next}">`);
  const second = await pages.viewer.get(next.replaceAll('&amp;', '&'));
  expect(second.text).toContain('51 to 60 of 60');
  expect(second.text.match(/<th scope="row"><a href="\/titles\/\d+">/g)).toHaveLength(10);
  const beyond = await pages.viewer.get(next.replaceAll('&amp;', '&').replace('page=2', 'page=99'));
  expect(beyond.text).toContain('51 to 60 of 60');
});

test('a tab keeps the other conditions, and the default one is not in the address', async () => {
  const { text } = await pages.viewer.get(`/findings?state=resolved&date=${DAY}`);
  expect(text).toContain(`<a href="/findings?date=${DAY}">Open</a>`);
  expect(text).toContain(`<a href="/findings?state=all&amp;date=${DAY}">`);
  expect(text).toContain('No finding.');
});

test('a parameter that cannot be read is named, and the list is shown without it', async () => {
  const { status, text } = await pages.viewer.get('/findings?date=2026-02-30&check=none');
  expect(status).toBe(200);
  expect(text).toContain('Not applied, because the value could not be read: Date, Check.');
  expect(text).toContain('1 to 50 of 61');
});

test('a file has all selected rows, in the notation of its language, and leaves an entry in the audit log', async () => {
  const fields = { format: 'csv', check: 'value_not_positive', date: DAY };
  const english = await pages.viewer.post('/findings/file', fields);
  expect(english.headers['content-disposition']).toMatch(
    /filename="findings-\d{4}-\d\d-\d\d\.csv"/,
  );
  const lines = english.text.trimEnd().split('\r\n');
  expect(lines).toHaveLength(TITLES + 1);
  expect(lines[0]).toBe(
    '\uFEFFaccepted_date,order_uid,provider_external_id,original_value,check,compared,state,reason',
  );
  expect(lines.find((line) => line.includes('-1234.5'))).toContain(`'=${DAY}-0`);
  expect(await lastAudit(pages.world)).toMatchObject({
    actor: 'vera',
    action: 'list.export',
    details: { list: 'findings', format: 'csv', rows: TITLES },
  });
  const { text } = await pages.viewer.post('/findings/file', fields, { headers: portuguese });
  expect(text).toContain('-1234,5');
  expect(text.split('\r\n')[0]).toContain(';');
});

test('a workbook has the same rows on one sheet', async () => {
  const { bytes } = await pages.viewer.post('/findings/file', { format: 'xlsx', state: 'all' });
  const sheets = readWorkbook(bytes);
  expect(sheets.map(({ name }) => name)).toEqual(['findings']);
  expect(sheets[0]?.rows).toHaveLength(TITLES + 2);
});

test('an unknown format is refused', async () => {
  const { status, text } = await pages.viewer.post('/findings/file', { format: 'pdf' });
  expect(status).toBe(400);
  expect(text).not.toContain('content-disposition');
});

test('the API has the same filter and rows, and refuses a parameter that cannot be read', async () => {
  const answer = (await pages.viewer.get('/api/findings?state=all&offset=60&limit=5')).json();
  expect(answer).toMatchObject({ total: TITLES + 1, rows: [{ date: DAY, state: 'open' }] });
  expect((await pages.viewer.get('/api/findings?date=2026-02-30')).status).toBe(400);
});
