import type { StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, datesBetween, lastClosedDate } from '../../src/base/values/business-day.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { outputOf, runProgram } from '../support/program.ts';
import { askConsole } from './ask-console.ts';
import { describeContainer } from './describe-container.ts';
import { openServiceStack, type ServiceStack } from './service-stack.ts';

const POLL = { timeout: PATIENCE_MS, interval: 250 };

/** As long as the stop may take, and as container hosts commonly wait. */
const GRACE_SECONDS = 30;

describeContainer('the service in a container', () => {
  const yesterday = lastClosedDate('America/Sao_Paulo', new Date());
  const startDate = addDays(yesterday, -9);
  let stack: ServiceStack;
  let service: StartedTestContainer;

  beforeAll(async () => {
    stack = await openServiceStack();
    service = await stack.startService('erp', { START_DATE: startDate });
  });
  afterAll(() => stack?.close());

  test('is healthy by its own check, and ready', async () => {
    // Starting has waited for the health check of the image.
    expect(await askConsole(stack.consoleUrl, '/readyz')).toMatchObject({ status: 200 });
  });

  test('reconciles every date from START_DATE to yesterday', async () => {
    const reconciled = datesBetween(startDate, yesterday).map((date) => ({
      date,
      state: 'reconciled',
    }));
    const readDays = () =>
      stack.query(
        'erp',
        `SELECT date::text, state FROM conciliation.day WHERE date <= '${yesterday}' ORDER BY date`,
      );
    await expect.poll(readDays, POLL).toEqual(reconciled);
  });

  test('ends 0 in its grace when it is stopped in the middle of a pull, which costs no attempt', async () => {
    await outputOf('docker', ['stop', '-t', String(GRACE_SECONDS), service.getId()]);
    await stack.orderFaults([{ kind: 'latency', latencyMs: 600_000, times: 'forever' }]);
    // Yesterday alone is not due before six in the morning.
    const slow = await stack.startService('slow', { START_DATE: startDate });
    const readPulls = () =>
      stack.query<{ state: string; attempts: number }>(
        'slow',
        'SELECT state, attempts FROM conciliation.pull',
      );
    await expect
      .poll(async () => (await readPulls()).map(({ state }) => state), POLL)
      .toContain('running');

    await outputOf('docker', ['stop', '-t', String(GRACE_SECONDS), slow.getId()]);
    // A process that is killed after its grace ends with 137.
    const exit = await outputOf('docker', [
      'inspect',
      '--format',
      '{{.State.ExitCode}}',
      slow.getId(),
    ]);
    expect(exit).toBe('0');
    const { stderr } = await runProgram('docker', ['logs', '--tail', '1', slow.getId()]);
    expect(stderr).toContain('service stopped');
    for (const pull of await readPulls()) expect(pull).toEqual({ state: 'queued', attempts: 0 });
  });
});
