import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { addDays, daysBetween, lastClosedDate } from '../../src/domain/business-day.ts';
import { outputOf } from '../support/program.ts';
import { askConsole } from './ask-console.ts';
import { type ComposeProject, findCompose, openComposeProject } from './compose-project.ts';
import { describeContainer } from './describe-container.ts';

const POLL = { timeout: 60_000, interval: 500 };

const compose = await findCompose();

describeContainer('docker compose', () => {
  let project: ComposeProject | undefined;
  afterEach(async () => {
    await project?.down();
    project = undefined;
  });

  function open(profile: string, environment: Readonly<Record<string, string>>): ComposeProject {
    if (compose === null) throw new Error('there is neither docker compose nor docker-compose');
    project = openComposeProject(compose, profile, environment);
    return project;
  }

  test('with the profile sandbox shows the product with nothing else, and keeps its data', async () => {
    const yesterday = lastClosedDate('America/Sao_Paulo', new Date());
    const startDate = addDays(yesterday, -19);
    const rehearsal = open('sandbox', { START_DATE: startDate });
    await rehearsal.up();
    const consoleUrl = await consoleUrlOf(rehearsal, 'sandbox');
    await expect
      .poll(() => readGauges(consoleUrl), POLL)
      .toMatchObject({
        'conciliation_days{state="reconciled"}': daysBetween(startDate, yesterday) + 1,
        'conciliation_days{state="failed"}': 0,
        conciliation_checkpoint_lag_days: 0,
      });
    const health = async () => healthOf((await rehearsal.containersOf('rehearsal'))[0] ?? '');
    await expect.poll(health, POLL).toBe('healthy');

    await expect.poll(() => readPulls(rehearsal), POLL).not.toMatch(/queued|running/);
    const before = await readPulls(rehearsal);
    expect(before.split('\n').length).toBeGreaterThanOrEqual(20);
    await rehearsal.stop();
    await rehearsal.up();
    await expect.poll(health, POLL).toBe('healthy');
    expect(await readPulls(rehearsal)).toBe(before);
  });

  test.each([
    { profile: 'service', worker: 'conciliation', workers: 1, withConsole: 'conciliation' },
    { profile: 'scaled', worker: 'worker', workers: 2, withConsole: 'scheduler' },
  ])('with the profile $profile pulls from the platform that is configured', async (expected) => {
    const folder = mkdtempSync(join(tmpdir(), 'conciliation-compose-'));
    try {
      const tokenPath = join(folder, 'token');
      writeFileSync(tokenPath, 'a-token', { mode: 0o644 });
      const running = open(expected.profile, {
        // It is away, which is no reason for the service not to be ready.
        PLATFORM_BASE_URL: 'https://platform.invalid',
        PLATFORM_TOKEN_PATH: tokenPath,
        // Yesterday is not due before six in the morning, the day before is at any time.
        START_DATE: addDays(lastClosedDate('America/Sao_Paulo', new Date()), -1),
      });
      await running.up();
      const workers = await running.containersOf(expected.worker);
      expect(workers).toHaveLength(expected.workers);
      for (const container of workers) {
        await expect.poll(() => healthOf(container), POLL).toBe('healthy');
      }
      const consoleUrl = await consoleUrlOf(running, expected.withConsole);
      await expect
        .poll(async () => (await askConsole(consoleUrl, '/readyz'))?.status, POLL)
        .toBe(200);
      await expect
        .poll(async () => (await Promise.all(workers.map(logOf))).join('\n'), POLL)
        .toContain('PLATFORM_UNAVAILABLE');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

async function consoleUrlOf(project: ComposeProject, service: string): Promise<string> {
  const [container = ''] = await project.containersOf(service);
  const [address = ''] = (await outputOf('docker', ['port', container, '8080/tcp'])).split('\n');
  return `http://${address}`;
}

function healthOf(container: string): Promise<string> {
  return outputOf('docker', ['inspect', '--format', '{{.State.Health.Status}}', container]);
}

function logOf(container: string): Promise<string> {
  return outputOf('sh', ['-c', `docker logs ${container} 2>&1`]);
}

async function readGauges(consoleUrl: string): Promise<Record<string, number>> {
  const text = (await askConsole(consoleUrl, '/metrics'))?.text ?? '';
  const samples = text.matchAll(/^(conciliation_\S+) (\S+)$/gm);
  return Object.fromEntries([...samples].map(([, name, value]) => [name, Number(value)]));
}

/** Every pull of the rehearsal and the number of its titles, to be compared. */
async function readPulls(project: ComposeProject): Promise<string> {
  const [container = ''] = await project.containersOf('rehearsal-postgres');
  const statement = `
    SELECT id, state, inserted, (SELECT count(*) FROM conciliation.title)
    FROM conciliation.pull ORDER BY id`;
  const psql = ['psql', '-h', '127.0.0.1', '-U', 'conciliation', '--csv', '-c', statement];
  return outputOf('docker', ['exec', '--env', 'PGPASSWORD=conciliation', container, ...psql]);
}
