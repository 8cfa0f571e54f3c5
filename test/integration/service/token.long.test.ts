/** The output and the behaviour of a service while its token is refused. */
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { createPull } from '../../../src/core/ledger/pull-requests.sql.ts';
import { forTest } from '../../support/for-tests.ts';
import type { ServiceProcess } from '../../support/service-process.ts';
import { eventually, FAST, openAlertingWorld, readPulls } from '../../support/service-world.ts';

/** A Wednesday's noon, so that nothing but the dates since the start is due, no sweep either. */
const NOW = new Date('2026-03-04T15:00:00Z');
const FIRST = toCivilDate('2026-03-01');
const YESTERDAY = toCivilDate('2026-03-03');

/** Long enough for several looks at the alerts, and for several reports. */
const SEVERAL_LOOKS_MS = 2_500;

/** A request of a person at the console is carried out at once. */
const PROMPT = {
  ...FAST,
  planner: { grace: { runningMs: 120_000, requestedQueuedMs: 0, requestedRunningMs: 120_000 } },
};

const environment = { START_DATE: YESTERDAY, LOOKBACK_DAYS: '0' };
const world = forTest(() => openAlertingWorld({ now: NOW, environment }));

async function alerts(): Promise<string[]> {
  const rows = await world.prisma.$queryRaw<{ kind: string; open: boolean }[]>`
    SELECT kind, resolved_at IS NULL AS open FROM conciliation.alert ORDER BY id`;
  return rows.map(({ kind, open }) => `${kind} ${open ? 'open' : 'over'}`);
}

const pulls = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await readPulls(world)).map(({ date, state, attempts }) => [date, `${state} ${attempts}`]),
  );

/** Status of /readyz, and what its check of the token says; undefined where it has none. */
async function readiness(service: ServiceProcess) {
  const response = await fetch(`${service.consoleUrl()}/readyz`);
  const { checks } = (await response.json()) as { checks: { name: string; reason: string }[] };
  const check = checks.find(({ name }) => name === 'token');
  return [response.status, check?.reason];
}

test('a refused token stays alerted until there is another token, also when a request that was under way succeeds', async () => {
  const tokenFile = await world.writeFile('token', world.sandbox.issueToken());
  const underWay = new EventEmitter();
  const until = once(underWay, 'end');
  world.sandbox.faults.add({ kind: 'stall', afterBytes: 1, until, date: YESTERDAY });
  world.sandbox.faults.add({ kind: 'status', status: 401, date: FIRST });
  const service = await world.start({
    overrides: PROMPT,
    environment: { PLATFORM_TOKEN_FILE: tokenFile },
  });
  await eventually(() => expect(world.sandbox.requests).toHaveLength(1));
  await createPull(world.database, { origin: 'manual', date: FIRST, requestedBy: 'test' });
  await eventually(async () => expect(await alerts()).toEqual(['platform_auth open']));
  expect(await pulls()).toEqual({ [YESTERDAY]: 'running 1', [FIRST]: 'queued 0' });

  underWay.emit('end');
  await eventually(async () => expect((await pulls())[YESTERDAY]).toBe('merged 1'));
  await sleep(SEVERAL_LOOKS_MS);
  expect(await alerts()).toEqual(['platform_auth open']);
  expect(await readiness(service)).toEqual([503, 'the platform refuses the token']);

  await world.writeFile('token', world.sandbox.issueToken());
  await eventually(async () => expect((await pulls())[FIRST]).toBe('merged 1'));
  await eventually(async () => expect(await alerts()).toEqual(['platform_auth over']));
  await eventually(async () => expect(await readiness(service)).toEqual([200, null]));
  await eventually(() => expect(world.webhook.received).toHaveLength(2));
});
