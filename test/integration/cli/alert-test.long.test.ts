/** `conciliation alert test` as an operator runs it. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  AUTHORITY,
  OTHER_AUTHORITY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from '../../support/certificates.ts';
import { runCommand } from '../../support/child-command.ts';
import { MAIL_PASSWORD, startHttpReceiver, startMailServer } from '../alerts/receivers.ts';

test('each channel receives a message, and the command prints the result of each', async () => {
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

/** The mail that a process sends which trusts the certificate authority of the file. */
function sendTrusting(authorityFile: string, url: URL) {
  const script = `
    import { openEmail } from ${JSON.stringify(new URL('../../../dist/alerts/email-channel.js', import.meta.url).href)};
    const channel = openEmail({ url: new URL(process.argv[1]), isPlain: false, from: 'a@b.example', to: ['c@d.example'] });
    const message = { id: 'x', thread: 'x', title: 'A test', paragraphs: ['A test'], link: null };
    console.log(await channel.send(message, AbortSignal.timeout(20_000)));`;
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, url.href], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: authorityFile },
  });
}

test('a mail begins with STARTTLS and sends the password encrypted, to a server that an authority vouches for', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-alert-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const mail = await startMailServer({ key: SERVER_KEY, cert: SERVER_CERTIFICATE });
  onTestFinished(() => mail.close());
  const url = new URL(mail.url);
  url.hostname = 'localhost';
  const send = async (authority: string) => {
    const path = join(folder, 'authority.pem');
    await writeFile(path, authority);
    return (await sendTrusting(path, url)).stdout.trim();
  };
  expect(await send(OTHER_AUTHORITY)).toBe('ESOCKET');
  expect(mail.mails).toEqual([]);
  expect(await send(AUTHORITY)).toBe('null');
  expect(mail.mails).toMatchObject([{ isEncrypted: true, headers: { subject: 'A test' } }]);
});

test('without a channel the command fails', async () => {
  const { exit, stdout } = await runCommand(['alert', 'test'], {});
  expect([exit, stdout]).toEqual([
    1,
    'The configuration names no channel: alerts go to the log only.\n',
  ]);
});
