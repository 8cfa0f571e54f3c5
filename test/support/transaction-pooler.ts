import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A pooler between the program and PostgreSQL. */
interface TransactionPooler {
  readonly url: string;
  close(): Promise<void>;
}

const STARTUP = 0x00030000;
const SSL_REQUEST = 80877103;

const BACKEND_KEY = 'K'.charCodeAt(0);
/** The number and the key of the session: those of the pooler, not those of the server. */
const OWN_KEY = message('K', Buffer.alloc(8));

/** What a pooler tells a further client: authenticated, the number of the session, ready. */
const WELCOME = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('S', Buffer.from('client_encoding\0UTF8\0')),
  OWN_KEY,
  message('Z', Buffer.from('I')),
]);

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/**
 * A pooler as PgBouncer with `pool_mode = transaction` and without support for prepared statements. All clients share one
 * session of the server, each for one transaction. The first client logs the session in.
 * @param resetQuery sent to the server after each transaction; null: nothing is
 */
export async function startTransactionPooler(
  databaseUrl: string,
  resetQuery: string | null = null,
): Promise<TransactionPooler> {
  const target = new URL(databaseUrl);
  const upstream = connect(Number(target.port), target.hostname);
  upstream.setNoDelay(true);
  upstream.on('error', () => undefined);
  const waiting: { readonly client: Socket; readonly bytes: Buffer }[] = [];
  let owner: Socket | null = null;
  let hasSession = false;
  let isResetting = false;
  let received: Buffer = Buffer.alloc(0);

  const send = (client: Socket, bytes: Buffer) => {
    if (isResetting || (owner !== null && owner !== client)) waiting.push({ client, bytes });
    else {
      owner = client;
      upstream.write(bytes);
    }
  };
  const giveOn = () => {
    owner = null;
    const next = waiting[0]?.client;
    if (next === undefined) return;
    const own = waiting.filter(({ client }) => client === next);
    waiting.splice(0, waiting.length, ...waiting.filter(({ client }) => client !== next));
    for (const { bytes } of own) send(next, bytes);
  };
  upstream.on('data', (bytes) => {
    received = Buffer.concat([received, bytes]);
    while (received.length >= 5 && received.length > received.readInt32BE(1)) {
      const part = received.subarray(0, 1 + received.readInt32BE(1));
      received = received.subarray(part.length);
      const isIdle = part[0] === 0x5a && part[5] === 0x49;
      if (isResetting) {
        if (!isIdle) continue;
        isResetting = false;
        giveOn();
        continue;
      }
      owner?.write(part[0] === BACKEND_KEY ? OWN_KEY : part);
      if (!isIdle) continue;
      if (resetQuery === null || !hasSession) giveOn();
      else {
        isResetting = true;
        upstream.write(message('Q', Buffer.from(`${resetQuery}\0`)));
      }
      hasSession = true;
    }
  });

  const server: Server = createServer((client) => {
    let rest: Buffer = Buffer.alloc(0);
    let isStarted = false;
    client.setNoDelay(true);
    client.on('error', () => undefined);
    client.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      if (!isStarted) {
        if (rest.length < 8 || rest.length < rest.readInt32BE(0)) return;
        const startup = rest.subarray(0, rest.readInt32BE(0));
        rest = rest.subarray(startup.length);
        if (startup.readInt32BE(4) === SSL_REQUEST) {
          client.write('N');
          return;
        }
        if (startup.readInt32BE(4) !== STARTUP) {
          client.destroy();
          return;
        }
        isStarted = true;
        if (hasSession) client.write(WELCOME);
        else send(client, startup);
      }
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const part = rest.subarray(0, 1 + rest.readInt32BE(1));
        rest = rest.subarray(part.length);
        // The end of the client is not the end of the session.
        if (part[0] === 0x58) client.end();
        else send(client, part);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    close: async () => {
      upstream.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
