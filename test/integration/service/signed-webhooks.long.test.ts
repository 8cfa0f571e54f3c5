/** A service signs its alerts with the secret that the environment names. */
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
import { importDocumentedVerification } from '../alerts/documented-verification.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

const world = forTest(() => openAlertingWorld({ environment: nothingDue() }));

test('an alert passes the documented check, and the log does not have the secret', async () => {
  const isGenuine = await importDocumentedVerification();
  const rejected = daysFrom(-1, TODAY);
  world.sandbox.setDayTexts(rejected, ['{}']);
  const service = await world.start({
    environment: {
      ...dueSince(rejected),
      ALERT_WEBHOOK_SECRET_FILE: await world.writeFile('webhook-secret', SECRET),
    },
  });
  await eventually(() => expect(world.webhook.received).toHaveLength(1));
  for (const { headers, text, body } of world.webhook.received) {
    expect(isGenuine(SECRET, headers, text)).toBe(true);
    expect(body).toMatchObject({ kind: 'day_attention', date: rejected });
  }
  expect(JSON.stringify(service.log)).not.toContain(SECRET.slice('whsec_'.length));
});
