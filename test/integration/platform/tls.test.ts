import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { PlatformUnavailableError } from '../../../src/base/runtime/errors.ts';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from '../../support/certificates.ts';
import { failureOf, fetchDay, openClient } from './client-fixture.ts';

async function startServer(): Promise<{ port: number; requests: () => number }> {
  let requests = 0;
  const server = createServer({ key: SERVER_KEY, cert: SERVER_CERTIFICATE }, (_, response) => {
    requests += 1;
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests: () => requests };
}

const given = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
afterEach(() => {
  if (given === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = given;
});

test.each([undefined, '0'])(
  'a certificate without a trusted authority is refused, with NODE_TLS_REJECT_UNAUTHORIZED %s',
  async (setting) => {
    if (setting !== undefined) process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = setting;
    const { port, requests } = await startServer();
    const failure = await failureOf(fetchDay(openClient(`https://localhost:${port}`)));
    expect(failure).toBeInstanceOf(PlatformUnavailableError);
    expect(failure.context).toEqual({ systemCode: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
    expect(requests()).toBe(0);
  },
);

test('the certificate is all that is wrong with that server', async () => {
  const { port } = await startServer();
  const socket = connect({ host: 'localhost', port, ca: AUTHORITY });
  onTestFinished(() => {
    socket.destroy();
  });
  await new Promise((resolve, reject) => socket.on('error', reject).on('secureConnect', resolve));
  expect(socket.authorized).toBe(true);
});
