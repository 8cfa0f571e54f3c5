import { createPrivateKey } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { PlatformUnavailableError } from '../../../src/base/runtime/errors.ts';
import { failureOf, fetchDay, openClient } from './client-fixture.ts';

/** Of no use beyond this test: the certificate is signed by its own key, for localhost. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBaDCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDOMlkQjqxGgXtpC
0P2SzChU8mo1Hk5TRr8gFLoTzq2gUytb9nrzn9WNbSJ4xbNC2eCb2iiZYGJI20Wz
L/9aN/OjTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
BTADAQH/MB0GA1UdDgQWBBTWz5lPd11pL62JnAev51+E/eRIIjAKBggqhkjOPQQD
AgNJADBGAiEA6+xiCtUjpjoydR6x+jbnkd45DdW6b9Yl9E5ECTsIdMICIQDofKZX
lhYFKrDBdU0BHsbhzxK7Wy8el4undacupMTTxw==
-----END CERTIFICATE-----`;
const KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'M4yWRCOrEaBe2kLQ_ZLMKFTyajUeTlNGvyAUuhPOraA',
  y: 'Uytb9nrzn9WNbSJ4xbNC2eCb2iiZYGJI20WzL_9aN_M',
  d: 'vgDeUbYymL5dFXZ_0k7WApk9NDsEhnWspsaPGqBdSyQ',
};

async function startSelfSigned(): Promise<{ port: number; requests: () => number }> {
  const key = createPrivateKey({ key: KEY, format: 'jwk' }).export({
    type: 'pkcs8',
    format: 'pem',
  });
  let requests = 0;
  const server = createServer({ key, cert: CERTIFICATE }, (_, response) => {
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
    const { port, requests } = await startSelfSigned();
    const failure = await failureOf(fetchDay(openClient(`https://127.0.0.1:${port}`)));
    expect(failure).toBeInstanceOf(PlatformUnavailableError);
    expect(failure.context).toEqual({ systemCode: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(requests()).toBe(0);
  },
);

test('the certificate is all that is wrong with that server', async () => {
  const { port } = await startSelfSigned();
  const socket = connect({ host: '127.0.0.1', port, ca: CERTIFICATE });
  onTestFinished(() => {
    socket.destroy();
  });
  await new Promise((resolve, reject) => socket.on('error', reject).on('secureConnect', resolve));
  expect(socket.authorized).toBe(true);
});
