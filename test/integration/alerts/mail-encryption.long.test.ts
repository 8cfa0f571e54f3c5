/** Mail of a process that trusts one certificate authority. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
import { startMailServer } from './receivers.ts';

/** The mail that a process sends which trusts the certificate authority of the file. */
function sendTrusting(authorityFile: string, url: URL) {
  const script = `
    import { openEmail } from ${JSON.stringify(new URL('../../../dist/features/alerts/channels.js', import.meta.url).href)};
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
