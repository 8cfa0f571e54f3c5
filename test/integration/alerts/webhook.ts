import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedAlert {
  readonly headers: IncomingHttpHeaders;
  /** The body as it arrived. */
  readonly text: string;
  readonly body: {
    readonly kind: string;
    readonly state: string;
    readonly message: string;
    readonly date: string | null;
    readonly pullId: number | null;
    readonly raisedAt: string;
    readonly resolvedAt: string | null;
  };
}

export type Webhook = Awaited<ReturnType<typeof startWebhook>>;

export const TOKEN = 'canary-webhook-token';

export async function startWebhook() {
  const received: ReceivedAlert[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const alert: ReceivedAlert = { headers: request.headers, text, body: JSON.parse(text) };
      received.push(alert);
      void webhook.answer(response, alert);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const webhook = {
    url: new URL(`http://127.0.0.1:${port}/hooks/${TOKEN}`),
    received,
    /** The bodies that were taken. */
    bodies: [] as unknown[],
    /** Of the answers. */
    status: 200,
    /** How a request is answered once it was read; as an incoming webhook of Slack does, unless told. */
    answer(response: ServerResponse, { body }: ReceivedAlert): void | Promise<void> {
      if (webhook.status < 300) webhook.bodies.push(body);
      response.writeHead(webhook.status).end('ok');
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return webhook;
}
