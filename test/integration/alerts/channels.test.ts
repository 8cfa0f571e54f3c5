/**
 * A fake Slack, a fake Teams and an SMTP server receive each kind of alert and the digest. The messages are
 * docs/alert-messages.md; `-u` writes that file.
 */

import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/base/database/database.ts';
import type { Language } from '../../../src/base/texts/texts.ts';
import { addDays, toCivilDate } from '../../../src/base/values/business-day.ts';
import { capitalised } from '../../../src/base/values/display-text.ts';
import { settleAlerts } from '../../../src/features/alerts/alert-ledger.sql.ts';
import { alertMessage } from '../../../src/features/alerts/alert-message.ts';
import { deliverAlerts } from '../../../src/features/alerts/deliver-alerts.ts';
import { deliverDigest, digestMessage } from '../../../src/features/alerts/digest.ts';
import { openEmail } from '../../../src/features/alerts/email-channel.ts';
import { openSlack, openTeams } from '../../../src/features/alerts/http-channels.ts';
import { ALERT_KINDS, type Alert } from '../../../src/features/alerts/messages/alert.ts';
import {
  alteredDateAlerts,
  brokenMonthAlerts,
  heldDayAlerts,
  openFindingsAlerts,
  openRejectsAlerts,
  overdueChecksAlert,
  restatedDayAlerts,
} from '../../../src/features/alerts/messages/day-alerts.ts';
import {
  bookingReceiptsAlerts,
  consumerBehindAlert,
  failedLinesAlert,
  overdueLinesAlert,
  paidToSupplierAlert,
  stalePayablesAlert,
  unbookedChangeAlerts,
  waitingDaysAlert,
} from '../../../src/features/alerts/messages/erp-alerts.ts';
import {
  changedAccountsAlert,
  failingPushAlert,
  refusedProvidersAlert,
} from '../../../src/features/alerts/messages/party-alerts.ts';
import { faultyProcessAlerts } from '../../../src/features/alerts/messages/process-alerts.ts';
import {
  contractDriftAlert,
  failedPullAlerts,
  overduePullsAlert,
  STALENESS_LIMITS,
  staleCheckpointAlert,
} from '../../../src/features/alerts/messages/pull-alerts.ts';
import {
  contradictedDateAlerts,
  staleSweepAlert,
  sweepFindingAlerts,
} from '../../../src/features/alerts/messages/sweep-alerts.ts';
import type { OpenItems } from '../../../src/features/home/open-items.sql.ts';
import {
  type AlertTable,
  openAlertTable,
  raiseAlert,
  resolveAlerts,
  STYLE,
} from './alert-table.ts';
import {
  type HttpReceiver,
  MAIL_PASSWORD,
  type MailServer,
  startHttpReceiver,
  startMailServer,
} from './receivers.ts';

const POLICY = { ...STALENESS_LIMITS, timeZone: STYLE.timeZone };

let table: AlertTable;
let slack: HttpReceiver;
let teams: HttpReceiver;
let mail: MailServer;
let log: string;
beforeAll(async () => {
  table = await openAlertTable();
});
beforeEach(async () => {
  log = '';
  await table.clear();
  await table.database.prisma.$executeRaw`DELETE FROM conciliation.digest_delivery`;
  [slack, teams] = [await startHttpReceiver(), await startHttpReceiver()];
  mail = await startMailServer();
  return async () => {
    await Promise.all([slack.close(), teams.close(), mail.close()]);
  };
});
afterAll(() => table.close());

const signal = new AbortController().signal;
const logger = pino(
  { level: 'trace' },
  {
    write(line: string) {
      log += line;
    },
  },
);

const channels = () => [
  openSlack({ url: slack.url }),
  openTeams({ url: teams.url }),
  openEmail({
    url: mail.url,
    isPlain: true,
    from: 'conciliation@example.com',
    to: ['finance@example.com', 'ops@example.com'],
  }),
];

function deliver(language: Language = 'en', database = table.database): Promise<number> {
  const style = { ...STYLE, language };
  const parts = { database, logger, channels: channels(), style };
  return deliverAlerts(parts, new AbortController().signal);
}

/** Like eight processes at once: the mail server keeps each connection waiting for a tenth of a second. */
async function deliverAtOnce(language: Language): Promise<number> {
  const delivered = await Promise.all(Array.from({ length: 8 }, () => deliver(language)));
  return delivered.reduce((sum, count) => sum + count);
}

const date = toCivilDate('2026-03-02');
const dates = Array.from({ length: 8 }, (_, days) => addDays(date, days));
const SWEEP = {
  from: date,
  datesCompared: 45,
  datesDiffering: 12,
  undated: 3,
  future: 1,
  early: 2,
};

/** At least one alert of each kind, in their order. */
const ALERTS: readonly Alert[] = [
  ...failedPullAlerts(
    dates.map((each, index) => ({
      pullId: BigInt(index + 12),
      date: each,
      attempts: 8,
      errorCode: 'PLATFORM_UNAVAILABLE',
    })),
  ),
  overduePullsAlert({ pulls: 3, date, pullId: 12n }),
  ...faultyProcessAlerts([{ kind: 'planning_failed', processes: 1 }]),
  ...faultyProcessAlerts([{ kind: 'work_unrecorded', processes: 1 }]),
  staleSweepAlert({
    completeAt: new Date('2026-02-22T06:00:00Z'),
    errorCode: 'PLATFORM_CONTRACT',
  }),
  ...sweepFindingAlerts(SWEEP),
  ...contradictedDateAlerts([{ date, pullId: 12n, sweepTitles: 3, pullTitles: 8 }]),
  ...heldDayAlerts(
    dates.slice(0, 3).map((each, index) => ({
      date: each,
      pullId: BigInt(index + 12),
      titles: 60,
      responseTitles: 30,
      withdrawals: 30,
      reason: 'withdrawal_limit',
      detail: null,
    })),
  ),
  ...openRejectsAlerts([{ date, rejects: 2, pullId: 12n }]),
  ...openFindingsAlerts(
    dates
      .slice(0, 2)
      .map((each) => ({ date: each, findings: 3, code: 'equal_on_two_dates', pullId: 12n })),
  ),
  staleCheckpointAlert(
    { startDate: date, lastReconciledDate: date, advancedAt: new Date('2026-03-03T09:00:00Z') },
    { now: new Date('2026-03-08T09:00:00Z'), lastClosedDate: addDays(date, 5) },
    STALENESS_LIMITS,
  ),
  ...restatedDayAlerts(dates.slice(0, 4).map((each) => ({ date: each, pullId: 12n }))),
  failedLinesAlert({ lines: 3, date }),
  overdueLinesAlert({ lines: 2, date }),
  consumerBehindAlert({ name: 'erp', behind: 4 }),
  ...bookingReceiptsAlerts([{ date, receipts: 2 }]),
  waitingDaysAlert({ days: 2, date }),
  ...unbookedChangeAlerts(dates.slice(0, 2).map((each) => ({ date: each }))),
  ...brokenMonthAlerts([
    { month: '2026-03', days: dates.slice(0, 2).map((each) => ({ date: each })) },
  ]),
  ...alteredDateAlerts([
    {
      date,
      foundDate: date,
      findings: 3,
      rows: ['7', '9'].map((key) => ({ problem: 'content', key })),
      pullId: 14n,
    },
  ]),
  overdueChecksAlert({ dates: 4, date }),
  refusedProvidersAlert([{ writtenDate: date, rejected: 2, invalid: 1 }]),
  failingPushAlert({ pending: 5, errorCode: 'PLATFORM_UNAVAILABLE' }),
  changedAccountsAlert({ pullId: 12n, changes: 2, acceptedDate: date }),
  stalePayablesAlert(
    { snapshotAt: new Date('2026-03-01T12:00:00Z'), maxAgeHours: 30 },
    new Date('2026-03-04T12:00:00Z'),
  ),
  paidToSupplierAlert(2, [date, addDays(date, 1)]),
  contractDriftAlert({ pullId: 12n, date, paths: ['titles[].a_b'], pathCount: 3 }),
  ...faultyProcessAlerts([
    { kind: 'token_refused', processes: 2 },
    { kind: 'clock_skew', processes: 1 },
  ]),
].filter((alert) => alert !== null);

const RAISED_AT = new Date('2026-03-10T09:00:00Z');

async function raiseAll(database: Database): Promise<void> {
  for (const alert of ALERTS) await raiseAlert(database, alert);
  await database.prisma.alert.updateMany({ data: { raisedAt: RAISED_AT } });
}

async function resolveAll(database: Database): Promise<void> {
  await database.prisma.$transaction((tx) => settleAlerts(tx, ALERT_KINDS, []));
  await database.prisma.alert.updateMany({
    data: { resolvedAt: new Date('2026-03-10T11:30:00Z') },
  });
}

const DIGEST: OpenItems = {
  startDate: addDays(date, -120),
  lastReconciledDate: addDays(date, 6),
  lagDays: 2,
  yesterday: { date, state: 'held', titles: 55, originalValueSum: '2194172.98' },
  needs: { failed: 0, restated: 1, held: 1, attention: 2, sign_off: 4 },
  unmappedCompanies: 0,
  accountChanges: 2,
  tasks: [
    {
      key: 'account_changes',
      count: 2,
      value: '1234.5',
      dates: [],
      href: '/account-changes',
      titles: 3,
    },
    { key: 'held', count: 1, value: '2194172.98', dates: [date], href: `/days/${date}` },
    {
      key: 'attention',
      count: 2,
      value: '20',
      dates: [addDays(date, 2), addDays(date, 3)],
      href: '/',
    },
    { key: 'restated', count: 1, value: '10', dates: [], href: '/restated' },
    { key: 'sign_off', count: 4, value: '99.99', dates: [], href: '/sign-offs' },
    ...ALERTS.filter(({ kind }) => kind === 'platform_auth').map((alert) => ({
      ...{ key: 'alert' as const, count: 1, value: null, dates: [], href: '/alerts', alert },
    })),
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
    await resolveAll(table.database);
    expect(await deliverAtOnce(language)).toBe(3 * ALERTS.length);
    const message = digestMessage(DIGEST, new Date('2026-03-10T11:00:00Z'), { ...STYLE, language });
    for (const channel of channels()) expect(await channel.send(message, signal)).toBeNull();

    const [raised, resolved] = [0, ALERTS.length].map((start) =>
      mail.mails.slice(start, start + ALERTS.length),
    ) as [MailServer['mails'], MailServer['mails']];
    const inOrder = (mails: MailServer['mails']) =>
      ALERTS.map(({ kind, message, messagePt }) => {
        const ending = `: ${alertTitle(kind, language)}`;
        const sentence = capitalised(language === 'en' ? message : messagePt);
        return mails.find(
          ({ headers, text }) => headers['subject']?.endsWith(ending) && text.includes(sentence),
        );
      });
    documented.push(`## ${heading}\n`);
    for (const [index, received] of inOrder(raised).entries()) {
      const kind = ALERTS[index]?.kind;
      if (received === undefined) throw new Error(`${kind} was not received`);
      if (kind !== ALERTS[index - 1]?.kind) {
        documented.push(`### ${kind}${language === 'en' ? '' : ' (pt-BR)'}\n`);
      }
      documented.push(asText(received));
    }
    const [over] = inOrder(resolved);
    const last = mail.mails.at(-1);
    if (over === undefined || last === undefined) throw new Error('not received');
    documented.push(
      `### An alert that is over${language === 'en' ? '' : ' (pt-BR)'}\n`,
      asText(over),
    );
    documented.push(`### The digest${language === 'en' ? '' : ' (pt-BR)'}\n`, asText(last));
    if (language === 'en') {
      const isFirst = (body: unknown) => JSON.stringify(body).includes('"Warning: Pull failed"');
      documented.push('### As Slack receives it\n', asJson(slack.bodies.find(isFirst)));
      documented.push('### As Teams receives it\n', asJson(teams.bodies.find(isFirst)));
    }
    for (const received of [slack.bodies, teams.bodies]) {
      expect(received).toHaveLength(2 * ALERTS.length + 1);
    }
  }
  await expect(
    `# Messages of alerts\n\nThe messages that a test received over SMTP, for made-up alerts, and one of them as Slack and Teams receive it. [Operating](operating.md#alerts) has the rules.\n\n${documented.join('\n')}`,
  ).toMatchFileSnapshot('../../../docs/alert-messages.md');
});

function alertTitle(kind: Alert['kind'], language: Language): string {
  const alert = ALERTS.find((known) => known.kind === kind);
  if (alert === undefined) throw new Error(kind);
  const { title } = alertMessage(
    {
      id: 1n,
      kind,
      message: '',
      deliveredMessage: null,
      date: null,
      pullId: null,
      raisedAt: RAISED_AT,
      resolvedAt: null,
      attempts: 1,
      deliveries: 0,
    },
    { ...STYLE, language },
  );
  return title.split(': ')[1] ?? '';
}

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
  [slack.status, teams.status, mail.isRefusing] = [500, 500, true];
  await deliver();
  await table.bringForward();
  const wrong = new URL(mail.url);
  wrong.password = 'canary-wrong';
  const closed = openSlack({ url: new URL('http://127.0.0.1:9/secret-path') });
  const email = openEmail({
    url: wrong,
    isPlain: true,
    from: 'a@example.com',
    to: ['b@example.com'],
  });
  const parts = { database: table.database, logger, channels: [closed, email], style: STYLE };
  await deliverAlerts(parts, signal);
  expect(log).toMatch(/ECONNREFUSED[\s\S]*EAUTH|EAUTH[\s\S]*ECONNREFUSED/);
  for (const secret of ['secret-path', '127.0.0.1', 'user@host', MAIL_PASSWORD, 'canary-wrong']) {
    expect(log).not.toContain(secret);
  }
});

test('a connection that has to be encrypted is refused by a server without TLS', async () => {
  const channel = openEmail({
    url: mail.url,
    isPlain: false,
    from: 'a@b.example',
    to: ['c@d.example'],
  });
  const message = { id: 'x', thread: 'x', severity: null, title: 'A test', paragraphs: ['A test'] };
  expect(await channel.send({ ...message, link: null, document: {} }, signal)).toBe('ETLS');
  expect(mail.mails).toEqual([]);
});

test('the digest of a slot is delivered once over all processes, and a failure is tried again', async () => {
  const { prisma } = table.database;
  const slotAt = new Date('2026-03-10T11:00:00Z');
  const digest = (database = table.database, slot = slotAt) =>
    deliverDigest(
      { database, logger, style: STYLE, policy: POLICY, channels: channels(), slotAt: () => slot },
      signal,
    );
  // The ledger is younger than the slot.
  expect(await digest()).toBe(0);
  await prisma.$executeRaw`
    INSERT INTO conciliation.pull (origin, date, requested_by, created_at)
    VALUES ('manual', '2026-03-01', 'test', '2026-03-10T10:00:00Z')`;
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
  await prisma.$executeRaw`
    UPDATE conciliation.digest_delivery SET next_attempt_at = now() WHERE next_attempt_at IS NOT NULL`;
  expect(await digest(table.other)).toBe(1);
  expect(await digest()).toBe(0);
  // The next day.
  expect(await digest(table.database, new Date('2026-03-11T11:00:00Z'))).toBe(3);
  expect(slack.bodies).toHaveLength(2);
});
