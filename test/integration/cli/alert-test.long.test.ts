/** `conciliation alert test` as an operator runs it. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../../support/child-command.ts';
import { MAIL_PASSWORD, startHttpReceiver, startMailServer } from '../alerts/receivers.ts';

test('each channel receives a message, and the command tells the result of each', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-alert-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const slack = await startHttpReceiver();
  onTestFinished(() => slack.close());
  const teams = await startHttpReceiver();
  onTestFinished(() => teams.close());
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const inFile = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, `${text}\n`);
    await chmod(path, 0o600);
    return path;
  };
  const smtp = new URL(mail.url);
  smtp.password = '';
  const environment = {
    ALERT_LANGUAGE: 'pt-BR',
    ALERT_SLACK_URL_FILE: await inFile('slack', slack.url.href),
    ALERT_TEAMS_URL: teams.url.href,
    SMTP_URL: smtp.href,
    SMTP_PASSWORD_FILE: await inFile('smtp', MAIL_PASSWORD),
    ALERT_EMAIL_FROM: 'conciliation@example.com',
    ALERT_EMAIL_TO: 'finance@example.com',
    CONSOLE_PUBLIC_URL: 'https://conciliation.example',
  };
  const done = await runCommand(['alert', 'test', '--json'], environment);
  expect([done.exit, done.stderr]).toEqual([0, '']);
  expect(JSON.parse(done.stdout)).toEqual({
    channels: ['slack', 'teams', 'email'].map((channel) => ({ channel, fault: null })),
  });
  expect(mail.mails).toMatchObject([
    {
      headers: { subject: 'Mensagem de teste' },
      text: expect.stringContaining('https://conciliation.example/alerts'),
    },
  ]);
  expect([slack.bodies.length, teams.bodies.length]).toEqual([1, 1]);

  teams.status = 404;
  const failed = await runCommand(['alert', 'test'], environment);
  expect(failed.exit).toBe(1);
  expect(failed.stdout).toMatch(/^slack +delivered\nteams +failed: status 404\nemail +delivered$/m);
  expect(failed.stdout + failed.stderr).not.toContain('secret-path');
});

test('without a channel the command fails', async () => {
  const { exit, stdout } = await runCommand(['alert', 'test'], {});
  expect([exit, stdout]).toEqual([
    1,
    'The configuration names no channel: alerts go to the log only.\n',
  ]);
});
