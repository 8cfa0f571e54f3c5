import { createTransport } from 'nodemailer';
import { faultCode } from '../../base/runtime/errors.ts';
import type { Channel } from './channel.ts';

export interface EmailOptions {
  /** With user and password, where the server requires them. A secret. */
  readonly url: URL;
  /** Without TLS, to a host that the configuration lists for plain connections. */
  readonly isPlain: boolean;
  readonly from: string;
  readonly to: readonly string[];
  /** Longest time of a delivery, in milliseconds; default 20 seconds. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;

/** E-mail over SMTP. The mails about one alert are one thread. */
export function openEmail(options: EmailOptions): Channel {
  const { url, isPlain, from, to, timeoutMs = TIMEOUT_MS } = options;
  const isTlsFirst = url.protocol === 'smtps:';
  const user = decodeURIComponent(url.username);
  const transport = createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (isTlsFirst ? 465 : 587)),
    secure: isTlsFirst,
    requireTLS: !isPlain,
    ignoreTLS: isPlain,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(url.password) } }),
  });
  const messageId = (id: string) => `<${id}@erp-conciliation-sync>`;
  return {
    name: 'email',
    timeoutMs,
    async prepare() {},
    async send({ id, thread, title, paragraphs, link }, signal) {
      const lines = [...paragraphs, ...(link === null ? [] : [`${link.label}: ${link.url.href}`])];
      const mail = transport.sendMail({
        from,
        to: [...to],
        subject: title,
        text: `${lines.join('\n\n')}\n`,
        messageId: messageId(id),
        references: id === thread ? [] : [messageId(thread)],
      });
      return within(mail, timeoutMs, signal).then(() => null, faultCode);
    },
  };
}

/** Waits for a mail for at most `ms`. The connection of an abandoned mail ends by its own timeout. */
function within(mail: Promise<unknown>, ms: number, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new DOMException('no answer', 'TimeoutError'));
    const timer = setTimeout(stop, ms);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    mail.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    });
  });
}
