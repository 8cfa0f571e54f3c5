/** Mail of a process that trusts one certificate authority. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  AUTHORITY,
  OTHER_AUTHORITY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from '../../support/certificates.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { outputOf } from '../../support/program.ts';
import { startMailServer } from './receivers.ts';

/** The mail that a process sends which trusts the certificate authority of the file. */
function sendTrusting(authorityFile: string, url: URL) {
  const script = `
    import { openEmail } from ${JSON.stringify(new URL('../../../dist/features/alerts/channels.js', import.meta.url).href)};
    const channel = openEmail({ url: new URL(process.argv[1]), isPlain: false, from: 'a@b.example', to: ['c@d.example'] });
    const message = { id: 'x', thread: 'x', title: 'A test', paragraphs: ['A test'], link: null };
    console.log(await channel.send(message, AbortSignal.timeout(20_000)));`;
  return outputOf(process.execPath, ['--input-type=module', '-e', script, url.href], {
    environment: { NODE_EXTRA_CA_CERTS: authorityFile },
  });
}

const folder = forFile(openFolder);

test('a mail begins with STARTTLS and sends the password encrypted, to a server that an authority vouches for', async () => {
  const mail = await startMailServer({ key: SERVER_KEY, cert: SERVER_CERTIFICATE });
  onTestFinished(() => mail.close());
  const url = new URL(mail.url);
  url.hostname = 'localhost';
  const send = async (authority: string) => {
    const path = join(folder.path, 'authority.pem');
    await writeFile(path, authority);
    return sendTrusting(path, url);
  };
  expect(await send(OTHER_AUTHORITY)).toBe('ESOCKET');
  expect(mail.mails).toEqual([]);
  expect(await send(AUTHORITY)).toBe('null');
  expect(mail.mails).toMatchObject([{ isEncrypted: true, headers: { subject: 'A test' } }]);
});
