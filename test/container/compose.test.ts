import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { addDays, daysBetween, lastClosedDate } from '../../src/domain/business-day.ts';
import { outputOf } from '../support/program.ts';
import { type ComposeProject, findCompose, openComposeProject } from './compose-project.ts';
import { describeContainer } from './describe-container.ts';

const POLL = { timeout: 120_000, interval: 500 };

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

  async function onlyContainerOf(service: string): Promise<string> {
    const [container, ...others] = (await project?.containersOf(service)) ?? [];
    if (container === undefined || others.length > 0) throw new Error(`not one ${service}`);
    return container;
  }

  function healthOf(containers: readonly string[]): Promise<string[]> {
    return Promise.all(
      containers.map((container) =>
        outputOf('docker', ['inspect', '--format', '{{.State.Health.Status}}', container]),
      ),
    );
  }

  async function gaugesOf(consoleUrl: string): Promise<Record<string, number>> {
    const text = await fetch(`${consoleUrl}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    );
    const lines = text.split('\n').filter((line) => /^conciliation_\S+ /.test(line));
    return Object.fromEntries(
      lines.map((line) => line.split(' ')).map(([name, value]) => [name, Number(value)]),
    );
  }

  /** The ledger of the rehearsal, to be compared. */
  async function readLedger(): Promise<string> {
    const sql = `SELECT p.id, p.state, p.inserted, (SELECT count(*) FROM conciliation.title) AS titles
      FROM conciliation.pull p ORDER BY p.id`;
    const database = await onlyContainerOf('rehearsal-postgres');
    return outputOf('docker', [
      'exec',
      database,
      'psql',
      '-U',
      'conciliation',
      '-AtF,',
      '-h',
      '/var/run/postgresql',
      '-c',
      sql,
    ]);
  }

  async function consoleUrl(service: string): Promise<string> {
    const port = await outputOf('docker', ['port', await onlyContainerOf(service), '8080/tcp']);
    return `http://${port.split('\n')[0]}`;
  }

  test('with the profile sandbox shows the product with nothing else, and keeps its data', async () => {
    const yesterday = lastClosedDate('America/Sao_Paulo', new Date());
    const startDate = addDays(yesterday, -19);
    const rehearsal = open('sandbox', { START_DATE: startDate });
    await rehearsal.up();

    const url = await consoleUrl('sandbox');
    await expect
      .poll(() => gaugesOf(url), POLL)
      .toMatchObject({
        'conciliation_days{state="reconciled"}': daysBetween(startDate, yesterday) + 1,
        'conciliation_days{state="failed"}': 0,
        conciliation_checkpoint_lag_days: 0,
        conciliation_oldest_due_age_seconds: 0,
      });
    await expect
      .poll(async () => healthOf([await onlyContainerOf('rehearsal')]), POLL)
      .toEqual(['healthy']);

    const before = await readLedger();
    expect(before.split('\n').length).toBeGreaterThan(20);
    await rehearsal.restart('rehearsal-postgres', 'rehearsal-redis', 'sandbox', 'rehearsal');
    await expect
      .poll(
        async () =>
          fetch(`${await consoleUrl('sandbox')}/readyz`).then(
            ({ status }) => status,
            () => 0,
          ),
        POLL,
      )
      .toBe(200);
    expect(await readLedger()).toBe(before);
  });

  test.each([
    ['service', { conciliation: 1 }],
    ['scaled', { scheduler: 1, worker: 2 }],
  ] as const)(
    'with the profile %s runs against the platform that is configured',
    async (profile, services) => {
      const folder = mkdtempSync(join(tmpdir(), 'conciliation-compose-'));
      const tokenPath = join(folder, 'token');
      writeFileSync(tokenPath, 'a-token', { mode: 0o644 });
      try {
        // The platform is away, which is no reason not to be healthy.
        const environment = {
          PLATFORM_BASE_URL: 'https://platform.invalid',
          PLATFORM_TOKEN_PATH: tokenPath,
        };
        const running = open(profile, environment);
        await running.up();
        for (const [service, count] of Object.entries(services)) {
          const containers = await running.containersOf(service);
          expect(containers).toHaveLength(count);
          await expect
            .poll(() => healthOf(containers), POLL)
            .toEqual(containers.map(() => 'healthy'));
        }
        const [withConsole = ''] = Object.keys(services);
        const ready = await fetch(`${await consoleUrl(withConsole)}/readyz`);
        expect(await ready.json()).toMatchObject({ status: 'ready' });

        const logs = await Promise.all(
          (await running.containersOf(profile === 'scaled' ? 'worker' : 'conciliation')).map(
            (container) => outputOf('sh', ['-c', `docker logs ${container} 2>&1`]),
          ),
        );
        expect(logs.join('\n')).toContain('PLATFORM_UNAVAILABLE');
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});
