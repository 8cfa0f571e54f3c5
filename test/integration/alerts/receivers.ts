/** An SMTP server in the process of the test. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

export const MAIL_PASSWORD = 'canary-smtp p@ss';

export async function startMailServer(disabledCommands = ['STARTTLS']) {
  const mails: ReturnType<typeof readMail>[] = [];
  const server = new SMTPServer({
    disabledCommands,
    allowInsecureAuth: true,
    // No name server is asked for the name of the client.
    disableReverseLookup: true,
    onAuth({ username, password }, _session, callback) {
      const isKnown = username === 'user@host' && password === MAIL_PASSWORD;
      callback(isKnown ? null : new Error('unknown user'), { user: username });
    },
    onData(stream, session, callback) {
      let raw = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        raw += chunk;
      });
      stream.on('end', () => {
        if (mailServer.isRefusing) return callback(new Error('refused'));
        const receivers = session.envelope.rcptTo.map(({ address }) => address);
        mails.push(readMail(raw, receivers));
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const mailServer = {
    /** With the user and the password that the server requires. */
    url: new URL(`smtp://user%40host:${encodeURIComponent(MAIL_PASSWORD)}@127.0.0.1:${port}`),
    mails,
    isRefusing: false,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
  return mailServer;
}

/** A mail of one part of text, as the service sends it. */
function readMail(raw: string, receivers: readonly string[]) {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers: Readonly<Record<string, string>> = Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(': ');
      return [name.toLowerCase(), decodeWords(value.join(': '))];
    }),
  );
  const body = raw.slice(end + 4);
  const encoding = headers['content-transfer-encoding'];
  const text =
    encoding === 'base64'
      ? Buffer.from(body, 'base64').toString('utf8')
      : encoding === 'quoted-printable'
        ? decodeQuoted(body.replaceAll('=\r\n', ''))
        : body;
  return { headers, text: text.replaceAll('\r\n', '\n'), receivers };
}

function decodeQuoted(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Words of headers by RFC 2047. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?UTF-8\?([QB])\?(.*?)\?=/gi, (_, encoding: string, word: string) =>
      encoding.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString('utf8')
        : decodeQuoted(word.replaceAll('_', ' ')),
    );
}
