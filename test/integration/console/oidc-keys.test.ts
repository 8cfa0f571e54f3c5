import { afterEach, expect, test, vi } from 'vitest';
import { forFile, forTest } from '../../support/for-tests.ts';
import { expectNobody, openCertifiedWorld } from '../../support/oidc-world.ts';
import { openPullWorld } from '../../support/pull-world.ts';

const world = forFile(openPullWorld);
const oidc = forTest(() => openCertifiedWorld(world.database));
afterEach(() => void vi.useRealTimers());

/** The clock of the console and of the provider; PostgreSQL has its own. */
const passSeconds = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

test('a new signing key of the provider is fetched without a restart', async () => {
  const { account } = await oidc.newPerson();
  expect((await oidc.signIn(account)).answer.status).toBe(303);
  expect((await oidc.signIn(account)).answer.status).toBe(303);
  expect(oidc.provider.keyRequests()).toBe(1);
  await oidc.provider.rotateKeys();
  passSeconds(61);
  expect((await oidc.signIn(account)).answer.status).toBe(303);
  expect(oidc.provider.keyRequests()).toBe(2);
});

test('within a minute of the last fetch, unknown keys are refused and not asked for again', async () => {
  const { account } = await oidc.newPerson();
  await oidc.signIn(account);
  await oidc.provider.rotateKeys();
  const { client, answer } = await oidc.signIn(account);
  expect(answer.status).toBe(401);
  await expectNobody(client);
  expect(oidc.provider.keyRequests()).toBe(1);
});

test('a token that was signed with a removed key is refused', async () => {
  const { account } = await oidc.newPerson();
  await oidc.signIn(account);
  await oidc.provider.rotateKeys();
  oidc.provider.signsWithRemovedKey = true;
  passSeconds(301);
  const { client, answer } = await oidc.signIn(account);
  expect([answer.status, answer.text.includes('did not work')]).toEqual([401, true]);
  await expectNobody(client);
  expect(oidc.provider.refusals).toEqual([]);
  oidc.provider.signsWithRemovedKey = false;
  expect((await oidc.signIn(account)).answer.status).toBe(303);
});
