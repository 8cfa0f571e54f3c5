/** The output and the behaviour of a service while its token is refused or cannot be read. */
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { createPull } from '../../../src/core/ledger/pull-ledger.sql.ts';
import type { ServiceProcess } from '../../support/service-process.ts';
import {
  eventually,
  FAST,
  inAlertingWorld,
  readPulls,
  type ServiceWorld,
} from '../../support/service-world.ts';

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

const inWorld = (startDate: CivilDate, use: Parameters<typeof inAlertingWorld>[2]) => {
  const environment = { START_DATE: startDate, LOOKBACK_DAYS: '0' };
  return inAlertingWorld('PostgreSQL', { redisDatabase: 11, now: NOW, environment }, use);
};

async function alerts(world: ServiceWorld): Promise<string[]> {
  const rows = await world.database.prisma.$queryRaw<{ kind: string; open: boolean }[]>`
    SELECT kind, resolved_at IS NULL AS open FROM conciliation.alert ORDER BY id`;
  return rows.map(({ kind, open }) => `${kind} ${open ? 'open' : 'over'}`);
}

const pulls = async (world: ServiceWorld): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await readPulls(world)).map(({ date, state, attempts }) => [date, `${state} ${attempts}`]),
  );

const requestPull = (world: ServiceWorld, date: CivilDate) =>
  createPull(world.database, { origin: 'manual', date, requestedBy: 'test' });

/** Status of /readyz, and what its check of the token says; undefined where it has none. */
async function readiness(service: ServiceProcess) {
  const response = await fetch(`${service.consoleUrl()}/readyz`);
  const { checks } = (await response.json()) as { checks: { name: string; reason: string }[] };
  const check = checks.find(({ name }) => name === 'token');
  return [response.status, check?.reason];
}

const READY = [200, null];
const REFUSED = [503, 'the platform refuses the token'];

describe.concurrent('a refused token stays alerted', () => {
  test('until there is another token, also when a request that was under way succeeds', () =>
    inWorld(YESTERDAY, async (world, webhook) => {
      const tokenFile = await world.writeFile('token', world.sandbox.issueToken());
      const underWay = new EventEmitter();
      const until = once(underWay, 'end');
      world.sandbox.faults.add({ kind: 'hold', until, date: YESTERDAY });
      world.sandbox.faults.add({ kind: 'status', status: 401, date: FIRST });
      const service = await world.start({
        overrides: PROMPT,
        environment: { PLATFORM_TOKEN_FILE: tokenFile },
      });
      await eventually(() => expect(world.sandbox.requests).toHaveLength(1));
      await requestPull(world, FIRST);
      await eventually(async () => expect(await alerts(world)).toEqual(['platform_auth open']));
      expect(await pulls(world)).toEqual({ [YESTERDAY]: 'running 0', [FIRST]: 'queued 0' });

      underWay.emit('end');
      await eventually(async () => expect((await pulls(world))[YESTERDAY]).toBe('merged 1'));
      await sleep(SEVERAL_LOOKS_MS);
      expect(await alerts(world)).toEqual(['platform_auth open']);
      expect(await readiness(service)).toEqual(REFUSED);

      await world.writeFile('token', world.sandbox.issueToken());
      await eventually(async () => expect((await pulls(world))[FIRST]).toBe('merged 1'));
      await eventually(async () => expect(await alerts(world)).toEqual(['platform_auth over']));
      await eventually(async () => expect(await readiness(service)).toEqual(READY));
      await eventually(() => expect(webhook.received).toHaveLength(2));
    }));
});

describe.concurrent('a token file without a usable token', () => {
  // test/unit/platform/token.test.ts has every form of such a file.
  test('that is empty between two looks costs a pull no attempt', () =>
    inWorld(YESTERDAY, async (world) => {
      const good = world.sandbox.issueToken();
      const tokenFile = await world.writeFile('token', good);
      const environment = { PLATFORM_TOKEN_FILE: tokenFile };
      const planner = await world.start({ environment, roles: ['scheduler'] });
      await eventually(() => expect(planner.logged('pulls planned')).toHaveLength(1));
      await planner.kill();
      expect(await pulls(world)).toEqual({ [YESTERDAY]: 'queued 0' });

      // The worker has seen the token, and cannot begin its attempt.
      const row = await lockPulls(world.databaseUrl);
      const worker = await world.start({ environment, roles: ['worker'] });
      await eventually(async () => {
        const waiting = await world.database.prisma.$queryRaw<unknown[]>`
          SELECT pid FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        expect(waiting).toHaveLength(1);
      });
      await world.writeFile('token', '');
      await row.release();
      await eventually(() => expect(worker.logged('pull attempt failed')).toHaveLength(1));
      expect(await pulls(world)).toEqual({ [YESTERDAY]: 'queued 0' });
      expect(world.sandbox.requests).toEqual([]);

      await world.writeFile('token', good);
      await eventually(async () => expect(await pulls(world)).toEqual({ [YESTERDAY]: 'merged 1' }));
      expect(await alerts(world)).toEqual([]);
    }));

  test('is alerted and not ready once it has lasted, until there is one', () =>
    inWorld(YESTERDAY, async (world) => {
      const tokenFile = await world.writeFile('token', '');
      const service = await world.start({
        overrides: { ...FAST, gate: { pollIntervalMs: 300, patienceMs: 20_000 } },
        environment: { PLATFORM_TOKEN_FILE: tokenFile },
      });
      await eventually(async () => expect(await alerts(world)).toEqual(['platform_auth open']));
      expect(await readiness(service)).toEqual([503, 'no usable token for a minute']);
      expect(await pulls(world)).toEqual({ [YESTERDAY]: 'queued 0' });

      await world.writeFile('token', world.sandbox.issueToken());
      await eventually(async () => expect(await pulls(world)).toEqual({ [YESTERDAY]: 'merged 1' }));
      await eventually(async () => expect(await alerts(world)).toEqual(['platform_auth over']));
      await eventually(async () => expect(await readiness(service)).toEqual(READY));
    }));
});

async function lockPulls(databaseUrl: string): Promise<{ release(): Promise<void> }> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM conciliation.pull FOR UPDATE');
  return { release: () => client.end() };
}
