/** A process whose clock differs from the database's. */
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import type { ServiceProcess } from '../../support/service-process.ts';
import {
  dueSince,
  eventually,
  inServiceWorld,
  readPulls,
  type ServiceWorld,
} from '../../support/service-world.ts';

const YESTERDAY = daysFrom(-1, TODAY);
const SHIFTED_CLOCK = pathToFileURL(`${import.meta.dirname}/../../support/shifted-clock.mjs`);
const TEN_MINUTES_MS = 600_000;

const inWorld = (use: (world: ServiceWorld) => Promise<void>) =>
  inServiceWorld('PostgreSQL', { redisDatabase: 10, environment: dueSince(YESTERDAY) }, use);

/** The environment of a process whose clock is wrong by so much, until the file says otherwise. */
async function shiftedBy(world: ServiceWorld, shiftMs: number) {
  return {
    NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`,
    CLOCK_SHIFT_FILE: await world.writeFile('shift', String(shiftMs)),
  };
}

function openAlerts(world: ServiceWorld): Promise<{ kind: string }[]> {
  return world.database.prisma.$queryRaw<{ kind: string }[]>`
    SELECT kind FROM conciliation.alert WHERE resolved_at IS NULL`;
}

async function readiness(service: ServiceProcess) {
  const response = await fetch(`${service.consoleUrl()}/readyz`);
  const { checks } = (await response.json()) as { checks: { name: string; reason: string }[] };
  return { status: response.status, clock: checks.find(({ name }) => name === 'clock')?.reason };
}

test('a service whose clock is ten minutes behind the database plans nothing, is not ready and alerts, until its clock is right', () =>
  inWorld(async (world) => {
    const service = await world.start({
      environment: await shiftedBy(world, -TEN_MINUTES_MS),
    });
    await eventually(async () =>
      expect(await openAlerts(world)).toEqual([{ kind: 'pull_overdue' }]),
    );
    expect(await readPulls(world)).toEqual([]);
    expect(await readiness(service)).toEqual({
      status: 503,
      clock: expect.stringMatching(/^(599|60\d) s behind the clock of the data/),
    });
    await world.writeFile('shift', '0');
    await eventually(async () =>
      expect(await readPulls(world)).toEqual([{ date: YESTERDAY, state: 'merged', attempts: 1 }]),
    );
    await eventually(async () => expect(await openAlerts(world)).toEqual([]));
    await eventually(async () =>
      expect(await readiness(service)).toEqual({ status: 200, clock: null }),
    );
  }));
