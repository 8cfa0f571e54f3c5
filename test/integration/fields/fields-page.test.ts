import { beforeAll, expect, test } from 'vitest';
import { promoteField } from '../../../src/features/fields/promoted-fields.sql.ts';
import { makeKey } from '../../support/console-client.ts';
import { signDay } from '../../support/days.ts';
import { forFile } from '../../support/for-tests.ts';
import {
  currentTitleId,
  listMatches,
  match,
  payablesOf,
  TITLE_BUYER,
} from '../../support/matching-world.ts';
import { pagesForFile } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const { world, console, viewer, reviewer } = pagesForFile();
const admin = forFile(() => console.as('admin', 'adm'));

const more = (id: string, key: string) => `,"duplicata":{"id":"${id}"},"pix":"${key}"`;
beforeAll(async () => {
  await world.serve(DAY, [
    titleText({ uid: 'one', more: more('DUP-<1>', 'secret@key.com') }),
    titleText({ uid: 'two', more: more('00012', 'other@key.com') }),
    titleText({ uid: 'three' }),
  ]);
  for (const [name, path, role] of [
    ['duplicata', 'titles[].duplicata.id', 'identifier'],
    ['chave_pix', 'pix', 'provider_account'],
  ] as const) {
    const { location } = await admin.post('/fields', { name, path, role, reason: 'agreed' });
    expect(location).toBe('/fields?notice=field_promoted');
  }
});

const titleId = (orderUid: string) => currentTitleId(world.database, orderUid);

/** An answer of the API to the key of the reviewer. */
const api = async (path: string) => {
  const key = await makeKey(world.database, 'reviewer', ['read'], 'rita');
  return (await console.call(key, `/api${path}`)).json();
};

/** The lines of a file of titles. */
const linesFor = async (client: typeof viewer): Promise<Record<string, unknown>[]> => {
  const { text } = await client.post('/titles/file', { format: 'jsonl' });
  const lines = text.trim().split('\n');
  return lines.map((line) => JSON.parse(line));
};

test('an administrator names a field, of those that titles have had, with an entry of the audit log', async () => {
  const { text } = await admin.get('/fields');
  expect(text).toContain('<option value="duplicata">');
  expect(text).toContain('duplicata.id');
  const ofReviewer = (await reviewer.get('/fields')).text;
  expect(ofReviewer).not.toContain('<form method="post" action="/fields"');
  const form = { name: 'x', path: 'x', role: 'identifier', reason: 'r' };
  expect((await reviewer.post('/fields', form)).status).toBe(403);
  const refused = await admin.post('/fields', { ...form, name: 'ç' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('Name: choose another one');
  const entries = await world.prisma.auditEntry.findMany({
    where: { action: 'field.promote' },
    orderBy: { id: 'asc' },
    select: { actor: true, reason: true, details: true },
  });
  expect(entries).toEqual([
    {
      ...{ actor: 'adm', reason: 'agreed' },
      details: { name: 'duplicata', path: 'duplicata.id', role: 'identifier', version: 1 },
    },
    {
      ...{ actor: 'adm', reason: 'agreed' },
      details: { name: 'chave_pix', path: 'pix', role: 'provider_account', version: 2 },
    },
  ]);
  expect((await admin.get('/audit')).text).toContain('place duplicata.id');
});

test('the page of a title, the list and the API show the fields, an account masked', async () => {
  const id = await titleId('one');
  const page = await viewer.get(`/titles/${id}`);
  expect(page.text).toContain('DUP-&lt;1>');
  expect(page.text).not.toContain('secret@key.com');
  expect((await reviewer.post(`/titles/${id}`)).text).toContain('secret@key.com');
  const list = await reviewer.get('/titles');
  expect(list.text).toContain('duplicata 00012');
  expect(list.text).not.toContain('other@key.com');
  expect((await api(`/titles/${id}`)).promoted).toEqual([
    { name: 'chave_pix', role: 'provider_account', isAccount: true, value: '••••om' },
    { name: 'duplicata', role: 'identifier', isAccount: false, value: 'DUP-<1>' },
  ]);
});

test('the one search box finds a value, in either case, and nothing else', async () => {
  const found = async (search: string) => {
    const { text } = await viewer.get(`/titles?search=${encodeURIComponent(search)}`);
    return ['one', 'two', 'three'].filter((uid) => text.includes(`>${uid}</a>`));
  };
  expect(await found('dup-<1>')).toEqual(['one']);
  expect(await found('00012')).toEqual(['two']);
  expect(await found('DUP')).toEqual([]);
});

test('files have a column for each field, an account masked for viewers', async () => {
  const lines = async (client: typeof viewer) =>
    (await linesFor(client)).map((line) => [
      line['order_uid'],
      line['duplicata'],
      line['chave_pix'],
    ]);
  expect(await lines(reviewer)).toEqual([
    ['one', 'DUP-<1>', 'secret@key.com'],
    ['three', null, null],
    ['two', '00012', 'other@key.com'],
  ]);
  expect(await lines(viewer)).toEqual([
    ['one', 'DUP-<1>', '••••om'],
    ['three', null, null],
    ['two', '00012', '••••om'],
  ]);
  const csv = await reviewer.post('/titles/file', { format: 'csv' });
  expect(csv.text.split('\n')[0]).toContain('duplicata');
});

test.for([
  ['financialAgent.payment.pixKey', 'k@key.com', '••••om'],
  ['financialAgent.payment', '{"pixKey": "k@key.com"}', '••••"}'],
  ['provider.bankAccount.subaccount', 'SUB-777888', '••••88'],
  ['provider', '{"bankAccount": {"subaccount": "SUB-777888"}}', '••••}}'],
  ['provider.code', null, null],
  ['reference.payment', 'REF-1', 'REF-1'],
] as const)('what stands at %s is masked in any use', async ([path, value, masked]) => {
  // A title of another date with undocumented members of its accounts.
  await world.serve(daysFrom(1), [
    titleText({ uid: 'account', date: daysFrom(1), more: ',"reference":{"payment":"REF-1"}' })
      .replace('"accountDigit":"8"', '"accountDigit":"8","pixKey":"k@key.com"')
      .replace('"accountDigit":"0"', '"accountDigit":"0","subaccount":"SUB-777888"'),
  ]);
  const name = `x_${path.toLowerCase().replaceAll('.', '_')}`;
  const row = { name, path, role: 'identifier', reason: 'agreed' };
  await admin.post('/fields', row);
  const cells = async (client: typeof viewer) =>
    (await linesFor(client))
      .filter((line) => line['order_uid'] === 'account')
      .map((line) => line[name]);
  expect([await cells(reviewer), await cells(viewer)]).toEqual([[value], [masked]]);
  const { text } = await viewer.get('/titles');
  expect([text.includes('k@key.com'), text.includes('SUB-777888')]).toEqual([false, false]);
  await admin.post('/fields', { ...row, role: 'ended' });
});

test('a changed field stands by its name in the changes of a signed day, of the title and of the file', async () => {
  const date = daysFrom(2);
  const serve = (id: string, key: string) =>
    world.serve(date, [
      // The last field is no content.
      titleText({
        ...{ uid: 'moved', date, agent: '90400888000142' },
        more: `${more(id, key)},"sentAt":"${key}"`,
      }).replace('"accountDigit":"8"', `"accountDigit":"8","pixKey":"${key}"`),
    ]);
  await serve('D-2', 'old@key.com');
  await signDay(world.database, date, { bookingsFrom: null });
  await serve('D-3', 'new@key.net');
  const fields = [
    { column: 'chave_pix', isAccount: true, before: '••••om', after: '••••et' },
    { column: 'duplicata', isAccount: false, before: 'D-2', after: 'D-3' },
    {
      ...{ column: 'financialAgent.payment.pixKey', isAccount: true },
      ...{ before: '••••om', after: '••••et' },
    },
  ];
  const id = await titleId('moved');
  expect((await api(`/days/${date}/changes`)).titles).toMatchObject([{ fields }]);
  expect((await api(`/titles/${id}`)).revisions).toMatchObject([{ fields }]);
  const day = await viewer.get(`/days/${date}`);
  expect(day.text.replace(/<[^>]+>/g, '')).toContain('duplicataBefore: D-2 → After: D-3');
  expect(day.text).not.toContain('key.net');
  expect((await reviewer.post(`/titles/${id}`)).text).toContain('new@key.net');
  const file = async (client: typeof viewer) => (await client.post(`/days/${date}/changes`)).text;
  expect(await file(reviewer)).toMatch(
    /chave_pix,old@key.com,new@key.net,.*\s+.*duplicata,D-2,D-3,.*\s+.*pixKey,old@key.com,new@key.net,/,
  );
  expect(await file(viewer)).toMatch(/chave_pix,••••om,••••et,.*\s+.*duplicata,D-2,D-3,/);
});

const WRITINGS = [' pa\u0307dded ÇÃO ', 'pa\u0307dded ção', 'p\u0227dded ÇA\u0303O'];
test.each(WRITINGS)('the search finds %j, in either form of its accents', async (search) => {
  const date = daysFrom(3);
  await world.serve(date, [
    titleText({ uid: 'padded', date, more: more('  p\u0227dded ça\u0303o ', 'k') }),
  ]);
  const { text } = await viewer.get(`/titles?search=${encodeURIComponent(search)}`);
  expect(text).toContain('>padded</a>');
});

test('the named field that is the document decides among payables that nothing else tells apart', async () => {
  const date = daysFrom(4);
  const noted = (uid: string, document: string, value = '1000.00') =>
    titleText({ uid, date, value, more: `,"nf":{"number":"${document}"}` });
  // Three weekly invoices of 1,000.00 that are due on one day, and two instalments of one order.
  await world.serve(date, [
    ...[noted('a', '101'), noted('b', '000102'), noted('c', '909')],
    ...[noted('x', '7', '50.00'), noted('y', 'Z', '50.00')],
  ]);
  const payables =
    'A 1000 doc=000000101, B 1000 doc=102, C 1000 doc=103, ' +
    'X1 50 doc=7 order=x, X2 50 doc=8 order=x, Z 50 doc=Z order=z';
  await importPayables(
    world.database,
    payablesOf(payables).map((payable) => ({ company: TITLE_BUYER, ...payable })),
  );
  await match(world.database);
  expect(await listMatches(world.database)).toEqual([]);
  const name = async (as: string) => {
    const field = { name: as, path: 'nf.number', role: 'document' } as const;
    await promoteField(world.database, field, { by: 'adm', reason: 'agreed' });
  };
  await name('nota_fiscal');
  await match(world.database);
  // The rest is not unambiguous because of these matches. A payable of another order is none.
  expect(await listMatches(world.database)).toEqual(['a=A order', 'b=B order', 'x=X1 order']);
  await expect(name('another')).rejects.toMatchObject({ context: { fault: 'field_document' } });
});
