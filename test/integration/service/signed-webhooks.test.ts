/** A service signs its alerts, and the events that wake the ERP, with the secrets that the environment names. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import {
  dueSince,
  eventually,
  FAST,
  inAlertingWorld,
  nothingDue,
} from '../../support/service-world.ts';
import { titleText } from '../../support/titles.ts';
import { importDocumentedVerification } from '../alerts/documented-verification.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

const inWorld = (use: Parameters<typeof inAlertingWorld>[2]) =>
  inAlertingWorld('PostgreSQL', { redisDatabase: 11, environment: nothingDue() }, use);

test('an alert of the service passes the documented check, and the log does not have the secret', () =>
  inWorld(async (world, webhook) => {
    const isGenuine = await importDocumentedVerification();
    const service = await world.start({
      overrides: { ...FAST, gate: { pollIntervalMs: 300, patienceMs: 300 } },
      environment: {
        ALERT_WEBHOOK_SECRET_FILE: await world.writeFile('webhook-secret', SECRET),
        PLATFORM_TOKEN: '',
        PLATFORM_TOKEN_FILE: await world.writeFile('token', ''),
      },
    });
    await eventually(() => expect(webhook.received).toHaveLength(1));
    for (const { headers, text } of webhook.received) {
      expect(isGenuine(SECRET, headers, text)).toBe(true);
    }
    expect(JSON.stringify(service.log)).not.toContain(SECRET.slice('whsec_'.length));
  }));

test('a released day posts an event, signed with the secret of the bookings', () =>
  inWorld(async (world, webhook) => {
    const isGenuine = await importDocumentedVerification();
    const day = daysFrom(-2, TODAY);
    world.sandbox.setDayTexts(day, [titleText({ uid: 'a', date: day })]);
    world.sandbox.setDayTexts(daysFrom(-1, TODAY), []);
    await world.start({
      environment: {
        ...dueSince(day),
        ...{ ALERT_WEBHOOK_URL: '', BOOKINGS_FROM: day, AUTO_SIGN_OFF: 'clean' },
        BOOKINGS_WEBHOOK_URL: webhook.url.href,
        BOOKINGS_WEBHOOK_SECRET_FILE: await world.writeFile('bookings-secret', SECRET),
      },
    });
    await eventually(() => expect(webhook.received).toHaveLength(1));
    for (const { headers, text } of webhook.received) {
      expect(isGenuine(SECRET, headers, text)).toBe(true);
      expect(JSON.parse(text).data).toEqual({ consumer: 'erp', seq: '1' });
    }
  }));
