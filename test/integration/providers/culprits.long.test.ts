import { beforeEach, expect, test } from 'vitest';
import { pushWorldOfFile } from '../../support/file-world.ts';
import {
  cpfOf,
  providerOf,
  readBatches,
  readProviders,
  writeProviders,
} from '../../support/provider-rows.ts';

const world = pushWorldOfFile();
beforeEach(() => world.begin());

/** Providers of another buyer, whose numbers only the platform knows. */
const TAKEN = 900_000;

async function register(...providers: unknown[]): Promise<void> {
  const answer = await fetch(`${world.sandbox.baseUrl}/api/providers`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.sandbox.issueToken()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ providers }),
  });
  expect(answer.status).toBe(200);
}

/** Seven places in a thousand. test/unit/providers/isolate-culprits.test.ts tries any places of a batch. */
const PLACES = [12, 238, 241, 455, 671, 770, 999];

test.each(['refuse-batch', 'apply-valid'] as const)(
  '%s: finds 7 culprits among 1,000',
  async (onInvalid) => {
    await register(...PLACES.map((place) => providerOf(TAKEN + place)));
    world.sandbox.setProviderRules({ onInvalid });
    const providers = Array.from({ length: 1000 }, (_, number) =>
      providerOf(
        number,
        PLACES.includes(number) ? { identificationNumber: cpfOf(TAKEN + number) } : {},
      ),
    );
    await writeProviders(world.database, providers);

    const before = world.requests();
    const outcome = await world.pushAll();
    const requests = world.requests() - before;
    expect(outcome).toMatchObject({ synced: 993, rejected: 7, requests });
    expect(requests).toBeLessThanOrEqual(10 + 7 * 2 * 7);

    const rows = await readProviders(world.database);
    for (const [number, provider] of providers.entries()) {
      const row = rows.get(provider.externalId);
      if (PLACES.includes(number)) {
        expect(row?.state).toBe('rejected');
        expect(row?.error).toContain('exists under a different externalId');
        expect(row?.error).toContain(provider.externalId);
        expect(world.sandbox.providers.has(provider.externalId)).toBe(false);
      } else {
        expect(row).toMatchObject({ state: 'synced', error: null });
        expect(world.sandbox.providers.get(provider.externalId)).toEqual(provider);
      }
    }
    const batches = await readBatches(world.database);
    expect(batches).toHaveLength(requests);
    expect(Math.max(...batches.map((batch) => batch.rows))).toBe(100);
  },
);
