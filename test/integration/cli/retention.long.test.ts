import { beforeAll, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { acceptRejects } from '../../../src/features/review/sign-off.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { openConsole } from '../../support/console-client.ts';
import { signDay } from '../../support/days.ts';
import { signedRows } from '../../support/documented-sql.ts';
import { forFile } from '../../support/for-tests.ts';
import { clientOfFile, DAY, daysFrom, TODAY, worldWithUsers } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { NEVER_STALE } from '../alerts/alert-table.ts';

const CHANGED = DAY;
const FAILED = daysFrom(1);
const NEVER_MERGED = daysFrom(2);
const REJECTED = daysFrom(3);
const ACCEPTED = daysFrom(4);
const RECENT = daysFrom(5);

const world = worldWithUsers();
const { users } = world;
const console = forFile(() => openConsole(world.database));
const administrator = clientOfFile(() => world.databaseUrl);
beforeAll(prepare);

const retention = (args: readonly string[], environment: Record<string, string> = {}) =>
  runCommand(['retention', ...args], { ...environmentOf(world), ...environment });

async function pull(date: CivilDate, ...texts: string[]) {
  return world.serve(date, texts);
}

async function failPull(date: CivilDate) {
  world.sandbox.faults.add({ kind: 'status', status: 400, times: 1 });
  await expect(world.pull(date)).rejects.toThrow();
}

const broken = (date: CivilDate, uid: string) =>
  `{"order":{"uid":"${uid}"},"acceptedDate":"${date}"}`;

/** A world of two years ago, and of today. */
async function prepare(): Promise<void> {
  const good = (date: CivilDate, discount = '12.34') => titleText({ date, discount });
  for (const discount of ['12.34', '12.34', '5', '5']) await pull(CHANGED, good(CHANGED, discount));
  await failPull(FAILED);
  await pull(FAILED, good(FAILED));
  await failPull(NEVER_MERGED);
  await pull(REJECTED, good(REJECTED), broken(REJECTED, 'CANARY-resolved'));
  await pull(REJECTED, good(REJECTED));
  await pull(ACCEPTED, good(ACCEPTED), broken(ACCEPTED, 'CANARY-accepted'));
  const decision = { by: 'ana', reason: 'known' };
  await acceptRejects(world.database, ACCEPTED, decision);
  await administrator.query(`
    INSERT INTO conciliation.provider_batch (external_ids, http_status, answer, finished_at)
    VALUES ('{P-1}', 200, 'CANARY answer', now()), ('{P-2}', 500, NULL, now())`);
  await administrator.query(`
    UPDATE conciliation.pull
    SET created_at = created_at - interval '2 years', finished_at = finished_at - interval '2 years',
        fetch_started_at = fetch_started_at - interval '2 years';
    UPDATE conciliation.provider_batch SET finished_at = finished_at - interval '2 years'`);

  for (let times = 0; times < 3; times += 1) await pull(RECENT, good(RECENT));
  await administrator.query(`
    INSERT INTO conciliation.provider_batch (external_ids, http_status, answer, finished_at)
    VALUES ('{P-1}', 200, 'recent answer', now())`);
  await administrator.query(`
    WITH import AS (INSERT INTO conciliation.erp_payable_import (kind) VALUES ('delta') RETURNING id)
    INSERT INTO conciliation.erp_payable_reject (import_id, at, reasons, raw, created_at)
    SELECT id, at, '{openValue}', '["text"]', created_at
    FROM import, (VALUES (1, now() - interval '2 years'), (2, now())) AS rejects (at, created_at)`);
}

/** Everything that may not change, as text. */
async function readKept() {
  const tables = ['title', 'title_revision', 'day', 'sign_off', 'checkpoint', 'drift'];
  const kept: Record<string, unknown> = {};
  for (const table of tables) {
    const { rows } = await administrator.query(`
      SELECT row::text FROM conciliation.${table} AS row ORDER BY 1`);
    kept[table] = rows;
  }
  return kept;
}

async function readPulls() {
  const { rows } = await administrator.query<{ pull: string }>(`
    SELECT date::text || ' ' || state AS pull FROM conciliation.pull ORDER BY id`);
  return rows.map((row) => row.pull);
}

const readRest = async () => {
  const { rows } = await administrator.query(`
    SELECT (SELECT array_agg(answer ORDER BY id) FROM conciliation.provider_batch) AS answers,
           (SELECT array_agg(status || ' ' || (raw <> '') ORDER BY id)
            FROM conciliation.rejected_title) AS rejects,
           (SELECT array_agg(at) FROM conciliation.erp_payable_reject) AS payable_rejects`);
  return rows[0];
};

const REMOVED = { provider_answers: 1, reject_texts: 1, payable_rejects: 1, pulls: 2 };
const NONE = Object.fromEntries(Object.keys(REMOVED).map((kind) => [kind, 0]));

test('a dry run counts and changes nothing', async () => {
  const before = [await readKept(), await readPulls(), await readRest()];
  const ran = await retention(['--older-than', '365', '--dry-run', '--json']);
  expect(ran).toMatchObject({ exit: 0, stderr: '' });
  expect(JSON.parse(ran.stdout)).toEqual({
    before: daysFrom(-365, TODAY),
    dryRun: true,
    removed: REMOVED,
  });
  expect([await readKept(), await readPulls(), await readRest()]).toEqual(before);
});

test('the service’s user may not, and nothing is removed', async () => {
  const before = await readPulls();
  const ran = await retention(['--older-than', '365', '--json'], {
    DATABASE_URL: users.urlOf('worker'),
  });
  expect(ran.exit).toBe(2);
  expect(ran.stderr).toContain('only the owner of the schema may run "conciliation retention"');
  expect(await readPulls()).toEqual(before);
});

test.each([['0'], ['29'], ['-365'], [daysFrom(-365, TODAY)]])(
  'rows younger than 30 days are not removed: --older-than %s',
  async (age) => {
    const ran = await retention(['--older-than', age]);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain('Expected a whole number from 30 to 36500.');
  },
);

test('removes old rows that are not needed, once, and lists them', async () => {
  const kept = await readKept();
  const expectedPulls = [
    `${CHANGED} merged`,
    `${CHANGED} merged`,
    `${CHANGED} unchanged`,
    `${FAILED} merged`,
    `${NEVER_MERGED} failed`,
    `${REJECTED} merged`,
    `${REJECTED} unchanged`,
    `${ACCEPTED} merged`,
    `${RECENT} merged`,
    `${RECENT} unchanged`,
    `${RECENT} unchanged`,
  ];
  const ran = await retention(['--older-than', '365']);
  expect(ran).toMatchObject({ exit: 0, stderr: '' });
  expect(ran.stdout).toMatch(
    /pulls that changed nothing, of dates with a newer merged pull +2\n?$/,
  );
  expect(await readPulls()).toEqual(expectedPulls);
  expect(await readRest()).toEqual({
    answers: [null, null, 'recent answer'],
    rejects: ['resolved false', 'accepted true'],
    payable_rejects: [2],
  });
  expect(await readKept()).toEqual(kept);

  const again = await retention(['--older-than', '365', '--json']);
  expect(JSON.parse(again.stdout).removed).toEqual(NONE);
  const { rows } = await administrator.query(`
    SELECT action, details FROM conciliation.audit_entry WHERE action LIKE 'retention%' ORDER BY id`);
  expect(rows).toEqual([
    { action: 'retention.begin', details: { before: daysFrom(-365, TODAY), removable: REMOVED } },
    { action: 'retention.end', details: { before: daysFrom(-365, TODAY), removed: REMOVED } },
  ]);
});

test('pages, alerts, sign-off and pulls continue as before', async () => {
  const alerts = await deriveAlerts(world.database, new Date(), NEVER_STALE);
  expect(alerts.raised).toBeGreaterThan(0);
  const failed = await world.prisma.alert.findMany({
    where: { kind: 'pull_failed', resolvedAt: null },
  });
  expect(failed.map(({ date }) => date)).toEqual([NEVER_MERGED]);

  const viewer = await console.as('viewer', 'wanda');
  for (const date of [CHANGED, FAILED, NEVER_MERGED, REJECTED, ACCEPTED, RECENT]) {
    expect((await viewer.get(`/days/${date}`)).status).toBe(200);
  }

  await signDay(world.database, CHANGED, { bookingsFrom: null });
  await pull(CHANGED, titleText({ date: CHANGED, discount: '6' }));
  const { rows } = await administrator.query(await signedRows(CHANGED));
  expect(rows.map((row) => row.platform_discounted_value)).toEqual(['5']);
});
