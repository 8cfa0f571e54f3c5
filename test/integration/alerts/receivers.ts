/** An SMTP server in the process of the test. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface Mail {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly receivers: readonly string[];
  /** Whether the connection was encrypted. */
  readonly isEncrypted: boolean;
}

export interface MailServer {
  /** With the user and the password that the server requires. */
  readonly url: URL;
  readonly mails: Mail[];
  isRefusing: boolean;
  close(): Promise<void>;
}

export const MAIL_PASSWORD = 'canary-smtp p@ss';

/** @param tls the certificate of the server: it then takes a user's password over TLS only */
export async function startMailServer(tls?: {
  readonly key: string;
  readonly cert: string;
}): Promise<MailServer> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    ...(tls ?? { disabledCommands: ['STARTTLS'], allowInsecureAuth: true }),
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
        mails.push({ ...parseMail(raw), receivers, isEncrypted: session.secure });
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const mailServer: MailServer = {
    url: new URL(`smtp://user%40host:${encodeURIComponent(MAIL_PASSWORD)}@127.0.0.1:${port}`),
    mails,
    isRefusing: false,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mailServer;
}

/** A mail of one part of text, as the service sends it. */
function parseMail(raw: string): Pick<Mail, 'headers' | 'text'> {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(': ');
      return [name.toLowerCase(), decodeWords(value.join(': '))];
    }),
  );
  const body = raw.slice(end + 4);
  const encoding = headers['content-transfer-encoding'];
  if (encoding === 'base64') {
    return { headers, text: Buffer.from(body, 'base64').toString('utf8').replaceAll('\r\n', '\n') };
  }
  const text = encoding === 'quoted-printable' ? decodeQuoted(body.replaceAll('=\r\n', '')) : body;
  return { headers, text: text.replaceAll('\r\n', '\n') };
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
