/**
 * A fake Slack, a fake Teams and an SMTP server receive each kind of alert and the digest. The messages are
 * docs/alert-messages.md; `-u` writes that file.
 */

import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/base/database/database.ts';
import { capitalised, type Language } from '../../../src/base/texts/texts.ts';
import { addDays, type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { ALERT_KINDS, type Alert, alertOf } from '../../../src/features/alerts/alerts.sql.ts';
import { openEmail, openHttpChannel } from '../../../src/features/alerts/channels.ts';
import {
  claimDue,
  deliverMessages,
  digestMessage,
  recordDelivery,
} from '../../../src/features/alerts/deliveries.sql.ts';
import type { OpenItems } from '../../../src/features/home/open-items.sql.ts';
import { forFile } from '../../support/for-tests.ts';
import { recordingLogger } from '../../support/logger.ts';
import { ALERTS_ONLY, openAlertTable, raiseAlert, resolveAlerts, STYLE } from './alert-table.ts';
import { MAIL_PASSWORD, type MailServer, startMailServer } from './receivers.ts';
import { startWebhook, TOKEN, type Webhook } from './webhook.ts';

const table = forFile(openAlertTable);
let slack: Webhook;
let teams: Webhook;
let mail: MailServer;
let log: ReturnType<typeof recordingLogger>;
beforeEach(async () => {
  log = recordingLogger();
  await table.clear();
  [slack, teams] = [await startWebhook(), await startWebhook()];
  mail = await startMailServer();
  return async () => {
    await Promise.all([slack.close(), teams.close(), mail.close()]);
  };
});

const signal = new AbortController().signal;
const channels = () => [
  openHttpChannel('slack', { url: slack.url }),
  openHttpChannel('teams', { url: teams.url }),
  openEmail({
    url: mail.url,
    isPlain: true,
    from: 'conciliation@example.com',
    to: ['finance@example.com', 'ops@example.com'],
  }),
];

function deliver(language: Language = 'en', database = table.database): Promise<number> {
  const style = { ...STYLE, language };
  const parts = { ...ALERTS_ONLY, database, logger: log.logger, channels: channels(), style };
  return deliverMessages(parts, signal);
}

/** Like three processes at once: the mail server keeps each connection waiting for a tenth of a second. */
async function deliverAtOnce(language: Language): Promise<number> {
  const delivered = await Promise.all(Array.from({ length: 3 }, () => deliver(language)));
  return delivered.reduce((sum, count) => sum + count);
}

const date = toCivilDate('2026-03-02');
const dates = Array.from({ length: 8 }, (_, days) => addDays(date, days));
const HELD = { buyer: null, found: 900, of: 60, limit: 300 };

/** Rows of the first of these dates, each with its pull. */
const rows = (count: number, more: object = {}) =>
  dates.slice(0, count).map((each, index) => ({ date: each, pullId: index + 12, ...more }));

/** Each message of each kind, in their order. */
const ALERTS: readonly Alert[] = (
  [
    ['pull_failed:X', rows(8, { attempts: 8, errorCode: 'PLATFORM_UNAVAILABLE' })],
    ['pull_overdue', rows(1, { pulls: 3, hours: 2 })],
    ['pull_overdue:planning', [{ cause: 'planning', processes: 1 }]],
    ['pull_overdue:unrecorded', [{ cause: 'unrecorded', processes: 1 }]],
    ['pull_overdue:clock', [{ cause: 'clock', processes: 1 }]],
    [
      'pull_overdue:notifications',
      [{ cause: 'notifications', percent: 11, held: '4711 (finance)' }],
    ],
    ['checkpoint_stale', [{ date: addDays(date, 1), reached: date, lag: 5, isBegun: true }]],
    ['contract_drift:12', rows(1, { named: ['titles[].a_b'], places: 3 })],
    ['platform_auth', [{ fault: 'token_refused', processes: 2 }]],
    ['platform_auth:unusable', [{ fault: 'token_unusable', processes: 1 }]],
    ['sweep_stale', [{ since: '2026-02-22', errorCode: 'PLATFORM_CONTRACT' }]],
    ['sweep_differs:dates', [{ cause: 'dates', from: date, differing: 12, compared: 45 }]],
    [
      'sweep_differs:unplaced',
      [{ cause: 'unplaced', from: date, undated: 3, future: 1, early: 2 }],
    ],
    ['sweep_differs:filters', rows(1, { cause: 'filters', sweepTitles: 3, pullTitles: 8 })],
    [
      'day_held:withdrawal_limit',
      rows(3, { reason: 'withdrawal_limit', withdrawals: 30, titles: 60, responseTitles: 30 }),
    ],
    ['day_held:unreadable', rows(1, { reason: 'unreadable', titles: 60, responseTitles: 30 })],
    ['day_held:growth', rows(1, { reason: 'growth', detail: HELD })],
    ['day_attention', rows(1, { rejects: 2 })],
    ['day_attention:equal_on_two_dates', rows(2, { code: 'equal_on_two_dates', findings: 6 })],
    ['restated_after_sign_off', rows(4)],
    ['month_seal_broken', rows(2, { month: '2026-03' })],
    ['booking_failed', [{ date, lines: 3 }]],
    ['booking_overdue', [{ date, lines: 2, after: 2, isConsumer: false }]],
    ['booking_overdue:erp', [{ name: 'erp', lines: 4, after: 1, isConsumer: true }]],
    ['booking_receipts', rows(1, { receipts: 2 })],
    ['booking_waiting', rows(2)],
    ['booking_waiting:difference', rows(2, { cause: 'difference' })],
    ['payables_stale', [{ hours: 30, isMissing: false }]],
    ['paid_to_supplier', rows(2, { breaks: 2 })],
    ['paid_to_supplier:old', rows(2, { cause: 'old', breaks: 35 })],
    ['account_changed:12', rows(1, { changes: 2 })],
    ['provider_rejected', [{ written: date, rejected: 2, invalid: 1 }]],
    ['push_failing', [{ pending: 5, hours: 2, errorCode: 'PLATFORM_UNAVAILABLE' }]],
    [
      'titles_altered:2026-03-02',
      rows(1, { findings: 3, altered: ['7', '9'].map((key) => ({ problem: 'content', key })) }),
    ],
    ['verification_overdue', [{ date, dates: 4, hours: 26 }]],
  ] as const
).map(([key, found]) => alertOf(key, found));

const RAISED_AT = new Date('2026-03-10T09:00:00Z');

async function raiseAll(database: Database): Promise<void> {
  for (const alert of ALERTS) await raiseAlert(database, alert);
  await database.prisma.alert.updateMany({ data: { raisedAt: RAISED_AT } });
}

async function resolveFirst(database: Database): Promise<void> {
  await resolveAlerts(database, 'pull_failed');
  await database.prisma.alert.updateMany({
    where: { kind: 'pull_failed' },
    data: { resolvedAt: new Date('2026-03-10T11:30:00Z') },
  });
}

const task = <Key extends string>(
  key: Key,
  count: number,
  value: string | null,
  href: string,
  dates: CivilDate[] = [],
) => ({ key, count, value, dates, href });

const DIGEST: OpenItems = {
  startDate: addDays(date, -120),
  lastReconciledDate: addDays(date, 6),
  lagDays: 2,
  yesterday: { date, look: 'held', titles: 55, originalValueSum: '2194172.98', blocked: 0 },
  tasks: [
    { ...task('account_changes', 2, '1234.5', '/account-changes'), titles: 3 },
    task('held', 1, '2194172.98', `/days/${date}`, [date]),
    task('attention', 2, null, '/', [addDays(date, 2), addDays(date, 3)]),
    task('restated', 1, null, `/days/${date}`, [date]),
    task('sign_off', 4, '99.99', '/sign-offs'),
    ...ALERTS.filter(({ kind }) => kind === 'platform_auth').map(
      ({ kind, message, messagePt }) => ({
        ...{ key: 'alert' as const, count: 1, value: null, dates: [], href: '/alerts' },
        alert: { kind, message, messagePt },
      }),
    ),
  ],
};

const asText = ({ headers, text }: MailServer['mails'][number]) =>
  `\`\`\`text\nSubject: ${headers['subject']}\n\n${text}\`\`\`\n`;
const asJson = (body: unknown) => `\`\`\`json\n${JSON.stringify(body, null, 2)}\n\`\`\`\n`;

test('Slack, Teams and e-mail receive each kind of alert and the digest, as documented', async () => {
  expect([...new Set(ALERTS.map(({ kind }) => kind))]).toEqual(ALERT_KINDS);
  const documented: string[] = [];
  for (const [language, heading] of [
    ['en', 'In English'],
    ['pt-BR', 'In Portuguese'],
  ] as const) {
    await table.clear();
    for (const received of [slack.bodies, teams.bodies, mail.mails]) received.length = 0;
    await raiseAll(table.database);
    expect(await deliverAtOnce(language)).toBe(3 * ALERTS.length);
    await resolveFirst(table.database);
    expect(await deliverAtOnce(language)).toBe(3);
    const message = digestMessage(DIGEST, new Date('2026-03-10T11:00:00Z'), { ...STYLE, language });
    for (const channel of channels()) expect(await channel.send(message, signal)).toBeNull();

    const raised = ALERTS.map(({ message, messagePt }) => {
      const sentence = capitalised(language === 'en' ? message : messagePt);
      return mail.mails.find(({ text }) => text.includes(sentence));
    });
    documented.push(`## ${heading}\n`);
    const suffix = language === 'en' ? '' : ' (pt-BR)';
    for (const [index, received] of raised.entries()) {
      const kind = ALERTS[index]?.kind;
      if (received === undefined) throw new Error(`${kind} was not received`);
      if (kind !== ALERTS[index - 1]?.kind) {
        documented.push(`### ${kind}${suffix}\n`);
      }
      documented.push(asText(received));
    }
    const [over, last] = mail.mails.slice(-2);
    if (over === undefined || last === undefined) throw new Error('not received');
    documented.push(`### An alert that is over${suffix}\n`, asText(over));
    documented.push(`### The digest${suffix}\n`, asText(last));
    if (language === 'en') {
      const isFirst = (body: unknown) => JSON.stringify(body).includes('"Warning: Pull failed"');
      documented.push('### As Slack receives it\n', asJson(slack.bodies.find(isFirst)));
      documented.push('### As Teams receives it\n', asJson(teams.bodies.find(isFirst)));
    }
    for (const received of [slack.bodies, teams.bodies]) {
      expect(received).toHaveLength(ALERTS.length + 2);
    }
  }
  await expect(
    `# Messages of alerts\n\nThe messages that a test received over SMTP, for made-up alerts, and one of them as Slack and Teams receive it. [Operating](operating.md#alerts) has the rules.\n\n${documented.join('\n')}`,
  ).toMatchFileSnapshot('../../../docs/alert-messages.md');
});

const [held] = ALERTS.filter(({ kind }) => kind === 'day_held') as [Alert];

test('the mails about one alert are one thread, to all receivers', async () => {
  await raiseAlert(table.database, held);
  await deliver();
  await resolveAlerts(table.database, held.kind);
  await deliver();
  const [raised, resolved] = mail.mails;
  expect(raised?.receivers).toEqual(['finance@example.com', 'ops@example.com']);
  expect(raised?.headers['message-id']).toMatch(/^<alert-\d+-raised@/);
  expect(resolved?.headers['references']).toBe(raised?.headers['message-id']);
  expect(resolved?.headers['message-id']).not.toBe(raised?.headers['message-id']);
});

test('a channel that is down is tried again, and neither stops nor repeats the others', async () => {
  await raiseAlert(table.database, held);
  slack.status = 500;
  mail.isRefusing = true;
  expect(await deliver()).toBe(1);
  await table.bringForward();
  expect(await deliver()).toBe(0);
  [slack.status, mail.isRefusing] = [200, false];
  await table.bringForward();
  const delivered = await Promise.all([deliver(), deliver('en', table.other)]);
  expect(delivered.reduce((sum, count) => sum + count)).toBe(2);
  expect([slack.bodies, teams.bodies, mail.mails].map(({ length }) => length)).toEqual([1, 1, 1]);
});

test('neither the log nor a message has an address or a password', async () => {
  await raiseAlert(table.database, held);
  const wrong = new URL(mail.url);
  wrong.password = 'canary-wrong';
  const url = new URL(`http://user:${TOKEN}@127.0.0.1:9/${TOKEN}?key=${TOKEN}`);
  const closed = [
    openHttpChannel('slack', { url }),
    openHttpChannel('webhook', { url, key: null }),
  ];
  const email = openEmail({
    url: wrong,
    isPlain: true,
    from: 'a@example.com',
    to: ['b@example.com'],
  });
  const { logger } = log;
  const { database } = table;
  await deliverMessages({ ...ALERTS_ONLY, database, logger, channels: [...closed, email] }, signal);
  const text = () => JSON.stringify(log.log);
  expect(text().match(/ECONNREFUSED/g)).toHaveLength(2);
  expect(text()).toContain('EAUTH');
  for (const isFaulty of [true, false]) {
    [slack.status, mail.isRefusing] = [isFaulty ? 500 : 200, isFaulty];
    await table.bringForward();
    await deliver();
  }
  expect(text()).toMatch(/alert not delivered[\s\S]*alert delivered/);
  for (const secret of [TOKEN, '127.0.0.1', 'user@host', MAIL_PASSWORD, 'canary-wrong']) {
    expect(text()).not.toContain(secret);
  }
});

test.each([
  { server: 'without TLS', disabled: ['STARTTLS'], fault: 'ETLS' },
  { server: 'whose certificate no authority has signed', disabled: [], fault: 'ESOCKET' },
])('mail that has to be encrypted is not sent to a server $server', async ({ disabled, fault }) => {
  const server = await startMailServer(disabled);
  const to = { url: server.url, isPlain: false, from: 'a@b.example', to: ['c@d.example'] };
  const message = { id: 'x', thread: 'x', severity: null, title: 'A test', paragraphs: ['A test'] };
  const sending = openEmail(to).send({ ...message, link: null, document: {} }, signal);
  expect(await sending.finally(server.close)).toBe(fault);
  expect(server.mails).toEqual([]);
});

/** An hour before the slot of the digest. */
const beginLedger = () => table.database.prisma.$executeRaw`
  INSERT INTO conciliation.pull (origin, date, requested_by, created_at)
  VALUES ('manual', '2026-03-01', 'test', '2026-03-10T10:00:00Z')`;

test('the digest of a slot is delivered once over all processes, and a failure is tried again', async () => {
  const { prisma } = table.database;
  const slotAt = new Date('2026-03-10T11:00:00Z');
  const digest = (database = table.database, slot = slotAt, until = signal) => {
    const parts = { ...ALERTS_ONLY, database, logger: log.logger, channels: channels() };
    return deliverMessages({ ...parts, digestSlotAt: () => slot }, until);
  };
  // The ledger is younger than the slot.
  expect(await digest()).toBe(0);
  await beginLedger();
  await prisma.$executeRaw`
    INSERT INTO conciliation.day (date, state) VALUES ('2026-03-01', 'held'), ('2026-03-02', 'held')`;
  teams.status = 503;
  const delivered = await Promise.all([digest(), digest(table.other), digest()]);
  expect(delivered.reduce((sum, count) => sum + count)).toBe(2);
  expect(await digest()).toBe(0);
  expect(mail.mails.map(({ text }) => text)).toEqual([
    expect.stringContaining(
      '2 days are held: newer answers wait for a decision · R$ 0.00 · 2026-03-01 to 2026-03-02',
    ),
  ]);
  teams.status = 200;
  await table.bringForward();
  // No digest is sent any more where the configuration has none.
  expect(await deliver()).toBe(0);
  expect(await digest(table.other)).toBe(1);
  expect(await digest()).toBe(0);
  // The next day.
  expect(await digest(table.database, new Date('2026-03-11T11:00:00Z'))).toBe(3);
  expect(slack.bodies).toHaveLength(2);
});

test('a digest that is taken when the next is due does not stand for the next', async () => {
  await beginLedger();
  const [slotAt, next] = [new Date('2026-03-10T11:00:00Z'), new Date('2026-03-11T11:00:00Z')];
  const parts = { ...ALERTS_ONLY, database: table.database, logger: log.logger };
  const plan = (slot: Date) =>
    deliverMessages(
      { ...parts, channels: channels(), digestSlotAt: () => slot },
      AbortSignal.abort(),
    );
  await plan(slotAt);
  const claim = { channel: 'teams', language: 'en', leaseMs: 86_400_000 } as const;
  const claimed = await claimDue(table.database, { ...claim, slotAt });
  if (claimed === null) throw new Error('nothing was due');
  await plan(next);
  await recordDelivery(table.database, claimed);
  expect(await claimDue(table.database, { ...claim, slotAt: next })).toMatchObject({
    slotAt: next,
    attempts: 2,
  });
});
