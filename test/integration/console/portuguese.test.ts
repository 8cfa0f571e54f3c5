import { beforeAll, expect, test } from 'vitest';
import { type AuditRecord, recordAudit } from '../../../src/base/audit/audit.ts';
import { MESSAGES, textOf } from '../../../src/base/texts/texts.ts';
import { knownAccess } from '../../../src/console/shell/route-access.ts';
import { checkProvider } from '../../../src/features/providers/provider.ts';
import { reasonsText } from '../../../src/features/review/pages/reason-text.ts';
import type { ConsoleAnswer, ConsoleClient } from '../../support/console-client.ts';
import { pagesForFile } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';
import { providerOf, writeProviders } from '../../support/provider-rows.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

/** Words that English sentences have and Portuguese ones do not. */
const ENGLISH = new Set(
  `the of is was were are be been not and with from has have had this that these those which who what when where why
   how by or only already any each every expected got missing must should may can cannot will would did does done
   pull pulls day days title titles date dates held hold failed fails pending attention reconciled restated withdrawn
   rejected reject rejects unknown reason signed user users key keys between current command line scheduler
   verification merged unchanged released queued running text number string array object value field first last after
   before since until never none nothing there here their its it they you your read write open over new old change
   changed changes yes amount sum count days' bank transfer checking provider providers request answer`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
/** Names of commands, of variables, of roles of a process and of HTTP, which have no translation. */
const NAMES = [
  /"?conciliation [a-z -]+"?/g,
  /“conciliation user”/g,
  /“Authorization: Bearer …”/g,
  /\/api|\/readyz/g,
  /https?:\/\/[\w./-]+/g,
  /\bJSON\b|\bCSV\b|\bCONSOLE_PUBLIC_URL\b/g,
  // Paths of fields, digests, and codes, which a word follows where there is one.
  /\b[a-z]\w*(?:\[\d*\])?\.\w+|\b[a-z]+[A-Z]\w*|\bname(?=:)|\btitles\[\]\S*/g,
  /\b[0-9a-f]{16,}\b/g,
  /\b[A-Z]+(?:_[A-Z]+)+\b/g,
];
const HELD = daysFrom(1);
const REJECTS = daysFrom(2);
const UNREADABLE = daysFrom(3);
const RESTATED = daysFrom(4);
const FAILED = daysFrom(5);

const ENTRIES: readonly AuditRecord[] = [
  { actor: 'command line: root', action: 'start_date.set', reason: 'x' },
  { actor: 'key 3 of ana: ERP', action: 'payables.import', details: { inserted: 4 } },
  { actor: 'key 4: ERP', action: 'month.seal', details: { month: '2026-02', days: 28 } },
  { actor: 'ana', action: 'findings.resolve', details: { check: 'value_not_positive' } },
];

let admin: ConsoleClient;
let heldPull: bigint;
const { world, console, reviewer } = pagesForFile({ bookingsFrom: DAY });
beforeAll(async () => {
  admin = await console.as('admin', 'alma');
  const serve = async (date: typeof DAY, ...texts: string[]) => {
    return world.serve(date, texts);
  };
  const title = (date: typeof DAY, uid: string, more: Parameters<typeof titleText>[0] = {}) =>
    titleText({ uid, date, name: 'Banco Ipê', ...more });
  await serve(DAY, title(DAY, 'a', { more: ',"novo":1' }));
  await serve(HELD, title(HELD, 'a'), title(HELD, 'b'));
  heldPull = (await serve(HELD)).pullId;
  await serve(
    REJECTS,
    title(REJECTS, 'a'),
    `{"order":{},"acceptedDate":"${REJECTS}","originalValue":"dez"}`,
    title(REJECTS, 'c').replace(/"anticipatedDueDate":"[^"]*"/, '"anticipatedDueDate":"31/12"'),
  );
  await serve(UNREADABLE, title(UNREADABLE, 'a'));
  await serve(UNREADABLE, title(UNREADABLE, 'a', { value: '"dez"' }));
  await serve(RESTATED, title(RESTATED, 'a'));
  const where = { date: new Date(RESTATED) };
  const { contentDigest } = await world.database.prisma.day.findUniqueOrThrow({ where });
  await reviewer.post(`/days/${RESTATED}/sign-off`, { digest: contentDigest ?? '' });
  await serve(RESTATED, title(RESTATED, 'a', { discount: '1' }));
  await world.database.prisma.day.create({ data: { date: new Date(FAILED), state: 'failed' } });
  await world.database.prisma.pull.createMany({
    data: [
      { date: new Date(FAILED), origin: 'daily', requestedBy: 'scheduler' },
      { date: new Date(FAILED), origin: 'manual', requestedBy: 'command line' },
      { date: new Date(FAILED), origin: 'repair', requestedBy: 'verification' },
    ],
  });
  await writeProviders(world.database, [
    providerOf(1, { externalId: 'P-1', name: 'Metalúrgica São João' }),
    providerOf(2, { name: 'Érica' }),
  ]);
  const faulty = {
    ...providerOf(3),
    name: ' ',
    phones: [{ number: '' }],
    identificationNumber: '1',
  };
  const check = checkProvider(faulty);
  const faults = check.ok ? '' : check.faults.map(({ field, expected }) => `${field}: ${expected}`);
  await world.database.prisma.provider.updateMany({
    where: { externalId: 'F000002' },
    data: { syncState: 'invalid', lastError: [faults].flat().join('; ') },
  });
  await importPayables(world.database, [
    { erpKey: 'AP-1', openValue: '1.5', orderUid: 'zz', document: 'NF-1' },
    { erpKey: 'AP-2', openValue: '999', document: 'NF-2' },
  ]);
  await admin.post('/backfills', { from: daysFrom(-5), to: daysFrom(-3), concurrency: '2' });
  await admin.post('/users', { name: 'bia', role: 'viewer' });
  await admin.post('/keys', { name: 'ERP', role: 'viewer', scope_read: 'on', days: '5' });
  for (const entry of ENTRIES) await recordAudit(world.database.prisma, entry);
});

/** The visible texts of a page, also those of attributes, without names that have no translation. */
function textsOf(html: string): string[] {
  const body = html
    .replaceAll('<wbr/>', '')
    .replace(/<(script|style|pre|code)\b[\s\S]*?<\/\1>/g, ' ')
    // The choice of languages has each one's own name.
    .replace(/<option value="en"[\s\S]*?<\/option>/g, ' ');
  const attributes = [...body.matchAll(/(?:aria-label|title|placeholder|alt)="([^"]*)"/g)];
  const nodes = body.split(/<[^>]*>/);
  return [...attributes.map(([, text = '']) => text), ...nodes]
    .map((text) =>
      NAMES.reduce(
        (rest, name) => rest.replace(name, ' '),
        text.replaceAll('&quot;', '"').replaceAll('&amp;', '&').replaceAll('&#39;', "'"),
      ).trim(),
    )
    .filter((text) => text !== '');
}

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}']+/gu) ?? [];
// The beginning of an API key is random.
const englishOf = (html: string) =>
  textsOf(html)
    .filter((text) => !text.startsWith('conciliation_'))
    .filter((text) => wordsOf(text).some((word) => ENGLISH.has(word)));

const portuguese = { 'accept-language': 'pt-BR' };

test('no page in Portuguese has English text', async () => {
  const line = await world.database.prisma.bookingLine.findFirstOrThrow();
  const titleId = (await world.database.prisma.title.findFirstOrThrow()).id;
  const pages: Record<string, readonly string[]> = {
    'GET /': ['/?to=2026-03'],
    'GET /days/:date': [DAY, HELD, REJECTS, UNREADABLE, RESTATED, FAILED, daysFrom(9)].map(
      (date) => `/days/${date}`,
    ),
    'GET /days/:date/parties': [`/days/${DAY}/parties`],
    'GET /restated': ['/restated'],
    'GET /findings': ['/findings', `/findings?date=${DAY}&check=value_not_positive&state=all`],
    'GET /titles': [
      '/titles?minValue=x',
      '/titles?status=withdrawn&order=zz',
      `/titles?from=${DAY}&to=${DAY}`,
    ],
    'GET /titles/:id': [`/titles/${titleId}`],
    'GET /booking-lines': [
      '/booking-lines',
      '/booking-lines?state=overdue&days=0',
      '/booking-lines?from=x',
    ],
    'GET /bookings/:id': [`/bookings/${line.id}`],
    'GET /backfills': ['/backfills'],
    'GET /backfills/:id': ['/backfills/1'],
    'GET /sign-offs': ['/sign-offs', '/sign-offs?clean=true'],
    'GET /sign-offs/preview': [`/sign-offs/preview?day=${DAY}&day=${HELD}`],
    'GET /months': ['/months'],
    'GET /months/:month': ['/months/2026-03'],
    'GET /schedule': ['month', 'day'].map((view) => `/schedule?view=${view}&date=2026-06-30`),
    'GET /breaks': ['/breaks', '/breaks?kind=value_differs'],
    'GET /balance': ['/balance'],
    'GET /break': [
      `/break?kind=missing_in_erp&title=${titleId}`,
      '/break?kind=in_doubt&title=999999',
      '/break?kind=missing_on_platform&payable=AP-1',
    ],
    'GET /companies': ['/companies'],
    'GET /holidays': ['/holidays?year=2026'],
    'GET /providers': ['/providers', '/providers?state=invalid'],
    'GET /provider': ['/provider?id=P-1', '/provider?id=F000002'],
    'GET /account-changes': ['/account-changes?state=all'],
    'GET /alerts': ['/alerts'],
    'GET /audit': ['/audit'],
    'GET /pulls/:id/release': [`/pulls/${heldPull}/release`, '/pulls/999999/release'],
    'GET /users': ['/users'],
    'GET /account': ['/account'],
    'GET /account/second-factor': ['/account/second-factor'],
    'GET /login': ['/login'],
    'GET /link/:token': ['/link/unknown'],
  };
  const visited = new Set(Object.keys(pages));
  const others = Object.keys(knownAccess()).filter(
    (route) => route.startsWith('GET ') && !route.includes(' /api/') && !visited.has(route),
  );
  expect(others.sort()).toEqual([
    'GET /assets/:file',
    'GET /healthz',
    // Redirections to the provider of company accounts.
    'GET /login/oidc',
    'GET /login/oidc/callback',
    'GET /logout/oidc',
    'GET /metrics',
    'GET /readyz',
  ]);
  const found: Record<string, string[]> = {};
  const note = (name: string, { text }: ConsoleAnswer) => {
    expect(text, name).toContain('lang="pt-BR"');
    const english = englishOf(text);
    if (english.length > 0) found[name] = english;
  };
  const personFor = (route: string) =>
    / \/(login|link)/.test(route)
      ? console.visitor()
      : knownAccess()[route]?.who.includes('admin') === true
        ? admin
        : reviewer;
  for (const [route, paths] of Object.entries(pages)) {
    for (const path of [paths].flat()) {
      note(path, await personFor(route).get(path, portuguese));
    }
  }
  const DECISION =
    /(sign-off|reopen|accept-rejects|release|decide|undo|resolve)$|^\/(break|companies|agents)\b/;
  const posts: readonly [string, Record<string, string>][] = [
    [`/days/${REJECTS}/rejects`, {}],
    [`/days/${REJECTS}/accept-rejects`, {}],
    [`/days/${DAY}/accept-rejects`, { reason: 'x' }],
    [`/days/${DAY}/sign-off`, { digest: 'x' }],
    [`/days/${HELD}/sign-off`, { digest: 'x' }],
    [`/days/${daysFrom(9)}/sign-off`, { digest: 'x' }],
    [`/days/${DAY}/reopen`, { reason: 'x' }],
    [`/days/${daysFrom(2, TODAY)}/pull`, {}],
    ['/pulls/999999/release', { reason: 'x' }],
    ['/drift/acknowledge', { digest: 'x', reason: 'x' }],
    ['/account-changes/decide', { decision: 'refused', changes: '999', reason: 'x' }],
    ['/account-changes/decide', { decision: 'refused', reason: 'x' }],
    ['/account-changes/decide', { changes: '999', reason: 'x' }],
    ['/backfills/999/cancel', {}],
    ['/backfills/1/resume', {}],
    ['/pause-schedule', {}],
    ['/resume-schedule', {}],
    ['/restated/file', { format: 'x' }],
    ['/titles/file', { format: 'x' }],
    ['/users', { name: 'Á', role: 'viewer' }],
    ['/keys', { name: '' }],
    ['/break/match', { title: String(titleId), payable: 'AP-9', reason: 'x' }],
    [
      '/break/resolve',
      { kind: 'in_doubt', title: String(titleId), ground: 'x', code: 'other', reason: 'x' },
    ],
    ['/breaks/resolve', { kind: 'in_doubt', digest: 'x', code: 'other', reason: 'x' }],
    ['/matches/999/undo', { reason: 'x' }],
    ['/companies', { reason: 'x' }],
    ['/companies', { company: '01', buyer: 'x', reason: 'x' }],
    ['/agents', { taxId: '11222333000181', sameAs: '11222333000262', reason: 'x' }],
    ['/breaks/file', { format: 'pdf' }],
    [`/titles/${titleId}`, {}],
  ];
  for (const [path, fields] of posts) {
    const isDecision = DECISION.test(path);
    const answer = await (isDecision ? reviewer : admin).post(path, fields, {
      headers: portuguese,
    });
    expect([path, answer.status]).not.toEqual([path, 403]);
    note(`POST ${path}`, answer);
  }
  expect(found).toEqual({});
  const { text: title } = await admin.get(`/titles/${titleId}`, portuguese);
  expect(title).toMatch(/BANK_TRANSFER<[^>]*> \(transferência bancária\)/);
  const { text: audit } = await admin.get('/audit', portuguese);
  for (const words of [
    'linha de comando: root',
    'chave 3 de ana: ERP',
    'chave 4: ERP',
    'importou contas a pagar do ERP',
    'fechou um mês',
    'mês Fevereiro de 2026',
    'regra Valor não positivo',
  ]) {
    expect(audit).toContain(words);
  }
  const { text: failed } = await admin.get(`/days/${FAILED}`, portuguese);
  for (const author of ['agendador', 'linha de comando', 'conferência']) {
    expect(failed).toContain(`<td>${author}</td>`);
  }
});

test('the search for English text does find English pages', async () => {
  for (const path of ['/', `/days/${RESTATED}`, '/audit', '/users', '/titles']) {
    expect(englishOf((await admin.get(path)).text).length, path).toBeGreaterThan(5);
  }
});

test('each sentence is in both languages, and few are the same', () => {
  const same = [...MESSAGES.en].filter(([key, text]) => MESSAGES['pt-BR'].get(key) === text);
  expect(same.map(([, text]) => text).sort()).toMatchInlineSnapshot(`
    [
      "Corpus Christi",
      "E-mail",
      "ERP",
      "Tiradentes",
      "buyerDiscountedValue",
      "financialDiscountedValue",
      "manual",
      "platformDiscountedValue",
      "total",
      "{bytes} bytes",
      "{titles} · {value}",
      "{who}, {at}",
    ]
  `);
});

test.each([
  [
    'originalValue: expected a number, got a string',
    'originalValue: esperado um número, recebido um texto',
  ],
  ['order.uid: missing', 'order.uid: ausente'],
  ['(title): expected an object, got null', '(título): esperado um objeto, recebido null'],
  [
    'acceptedDate: 2026-03-02 is outside the requested window',
    'acceptedDate: 02/03/2026 está fora do intervalo pedido',
  ],
  [
    'name: expected text that is not blank; phones[0].number: expected at most 20 characters',
    'name: esperado um texto não vazio; phones[0].number: esperados no máximo 20 caracteres',
  ],
  ['the title is 9 bytes long, expected at most 8', 'o título tem 9 bytes; esperados no máximo 8'],
  ['something else', 'something else'],
])('the reason %s', (english, expected) => {
  expect(reasonsText(textOf('pt-BR'), english)).toBe(expected);
  expect(reasonsText(textOf('en'), english)).toBe(english);
});
