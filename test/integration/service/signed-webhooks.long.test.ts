/** A service signs its alerts, and the events that wake the ERP, with the secrets that the environment names. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { forTest } from '../../support/for-tests.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import {
  dueSince,
  eventually,
  nothingDue,
  openAlertingWorld,
} from '../../support/service-world.ts';
import { titleText } from '../../support/titles.ts';
import { importDocumentedVerification } from '../alerts/documented-verification.ts';
import { startWebhook } from '../alerts/webhook.ts';

const [SECRET, OTHER_SECRET] = [1, 2].map(() => `whsec_${randomBytes(32).toString('base64')}`) as [
  string,
  string,
];

const world = forTest(() => openAlertingWorld({ environment: nothingDue() }));

test('an alert and an event of the bookings pass the documented check, and the log has neither secret', async () => {
  const isGenuine = await importDocumentedVerification();
  const bookings = await startWebhook();
  const [released, rejected] = [daysFrom(-2, TODAY), daysFrom(-1, TODAY)];
  world.sandbox.setDayTexts(released, [titleText({ uid: 'a', date: released })]);
  world.sandbox.setDayTexts(rejected, ['{}']);
  const service = await world.start({
    environment: {
      ...dueSince(released),
      ALERT_WEBHOOK_SECRET_FILE: await world.writeFile('webhook-secret', SECRET),
      BOOKINGS_FROM: released,
      AUTO_SIGN_OFF: 'clean',
      BOOKINGS_WEBHOOK_URL: bookings.url.href,
      BOOKINGS_WEBHOOK_SECRET_FILE: await world.writeFile('bookings-secret', OTHER_SECRET),
    },
  });
  await eventually(() => expect(world.webhook.received).toHaveLength(1));
  await eventually(() => expect(bookings.received).toHaveLength(1));
  await bookings.close();
  for (const { headers, text, body } of world.webhook.received) {
    expect(isGenuine(SECRET, headers, text)).toBe(true);
    expect(body).toMatchObject({ kind: 'day_attention', date: rejected });
  }
  for (const { headers, text } of bookings.received) {
    expect(isGenuine(OTHER_SECRET, headers, text)).toBe(true);
    expect(JSON.parse(text).data).toEqual({ consumer: 'erp', seq: '1' });
  }
  for (const secret of [SECRET, OTHER_SECRET]) {
    expect(JSON.stringify(service.log)).not.toContain(secret.slice('whsec_'.length));
  }
});
