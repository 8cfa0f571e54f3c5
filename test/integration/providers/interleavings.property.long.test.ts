import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTaxId } from '../../../src/base/values/tax-id.ts';
import { checkProvider } from '../../../src/features/providers/provider.ts';
import { interruptible } from '../../support/interruptible-database.ts';
import { cpfOf, providerOf, writeProviders } from '../../support/provider-rows.ts';
import { pushWorldOfFile } from '../../support/push-world.ts';

import { assertProperty } from '../../support/random-runs.ts';
import type { Fault } from '../../support/sandbox/faults.ts';

/**
 * Whatever the ERP writes, whenever; whatever the platform answers, or fails to; wherever the program
 * dies: once it is left in peace, the platform has the ERP's last content of every valid row.
 */

const world = pushWorldOfFile();

const PROVIDERS = 3;
/** Two numbers that every provider may claim, so that they collide, wait for each other and swap. */
const CONTESTED = [800_000, 800_001];
/** Providers that another buyer registered at the platform. */
const TAKEN = 900_000;

/** Few values of each field, so that contents come back and numbers collide. */
const content = fc.record({
  provider: fc.nat({ max: PROVIDERS - 1 }),
  number: fc.constantFrom(
    'own',
    'own',
    'own, masked',
    'other',
    'contested',
    'contested too',
    'taken',
  ),
  name: fc.constantFrom('A', 'B'),
  isValid: fc.constantFrom(true, true, true, true, true, false),
});
type Content = typeof content extends fc.Arbitrary<infer T> ? T : never;

const FIRST: Content = { provider: 0, number: 'own', name: 'A', isValid: true };

function numberOf({ provider, number }: Content): string {
  const own = cpfOf(provider);
  switch (number) {
    case 'own':
      return own;
    case 'own, masked':
      return own.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4');
    case 'other':
      return cpfOf(100 + provider);
    case 'taken':
      return cpfOf(TAKEN);
    default:
      return cpfOf(CONTESTED[number === 'contested' ? 0 : 1] ?? 0);
  }
}

const toRow = (fields: Content) =>
  providerOf(fields.provider, {
    name: fields.name,
    identificationNumber: numberOf(fields),
    ...(!fields.isValid && { emailAddresses: [{ email: 'nowhere' }] }),
  });

const write = (fields: readonly Content[]) =>
  // One row a provider: a statement cannot change a row twice.
  writeProviders(world.database, [
    ...new Map(fields.map((row) => [row.provider, toRow(row)])).values(),
  ]);

const fault: fc.Arbitrary<Fault> = fc.constantFrom<Fault>(
  { kind: 'status', status: 500 },
  { kind: 'status', status: 401 },
  { kind: 'status', status: 429, headers: { 'retry-after': '1' } },
  { kind: 'status', status: 404 },
  // The platform takes the providers, and its answer is lost.
  { kind: 'cut', afterBytes: 0, how: 'reset' },
  { kind: 'cut', afterBytes: 1, how: 'end' },
  { kind: 'body', body: '<html>', contentType: 'text/html' },
);

const faults = fc.array(fc.record({ after: fc.nat({ max: 3 }), fault }), { maxLength: 2 });
/** A batch without a culprit has about twenty steps. */
const step = fc.oneof(fc.nat({ max: 22 }), fc.nat({ max: 60 }));

const of = <const Do extends string, Fields extends object>(
  weight: number,
  kind: Do,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) => {
  const arbitrary = fc.record({ do: fc.constant(kind), ...fields });
  return { weight, arbitrary: arbitrary as fc.Arbitrary<{ readonly do: Do } & Fields> };
};
const operation = fc.oneof(
  of(4, 'write', { rows: fc.array(content, { minLength: 1, maxLength: 4 }) }),
  of(1, 'delete', { provider: fc.nat({ max: PROVIDERS - 1 }) }),
  of(1, 'rules', {
    onInvalid: fc.constantFrom<'refuse-batch' | 'apply-valid'>('refuse-batch', 'apply-valid'),
  }),
  of(2, 'push', { faults }),
  // The process dies at any of its steps, or is asked to stop there, or the ERP writes there.
  of(3, 'crash', { at: step }),
  of(1, 'stop', { at: step }),
  of(3, 'write meanwhile', { at: step, row: content }),
  // Two processes push at once.
  of(1, 'push twice', {}),
  // The ERP has a row locked during a whole push, and then commits what it wrote, or not.
  of(1, 'push under lock', { row: content, commits: fc.boolean() }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** The numbers under which the platform may know deleted rows. With a deleted row the program loses the holder of its number. */
const forgotten = new Set<string>();

class Crash extends Error {}

/** Pushes with `onStep` called at the given step of its way through database and platform. */
async function pushWith(at: number, onStep: () => unknown, signal?: AbortSignal): Promise<void> {
  let steps = 0;
  let death: Crash | null = null;
  const next = async () => {
    if (death !== null) throw death;
    steps += 1;
    if (steps !== at) return;
    try {
      await onStep();
    } catch (error) {
      if (error instanceof Crash) death = error;
      throw error;
    }
  };
  const { platform } = world.parts;
  await world
    .push(
      {
        database: interruptible(world.database, next),
        platform: {
          async pushProviders(providers, aborted) {
            await next();
            const answer = await platform.pushProviders(providers, aborted);
            await next();
            return answer;
          },
        },
      },
      signal,
    )
    .catch(expectInterruption);
}

function expectInterruption(error: unknown): void {
  if (error instanceof Crash) return;
  expect(error).toHaveProperty('code', 'SHUTDOWN');
}

async function run(op: Operation): Promise<void> {
  switch (op.do) {
    case 'write':
      return write(op.rows);
    case 'delete': {
      const { externalId } = providerOf(op.provider);
      const rows = await world.prisma.$queryRaw<{ taxIds: string[] }[]>`
        DELETE FROM conciliation.provider WHERE external_id = ${externalId}
        RETURNING sent_tax_ids AS "taxIds"`;
      for (const { taxIds } of rows) for (const taxId of taxIds) forgotten.add(taxId);
      return;
    }
    case 'rules':
      return world.sandbox.setProviderRules({ onInvalid: op.onInvalid });
    case 'push':
      for (const { after, fault } of op.faults) {
        if (after > 0) world.sandbox.faults.add({ kind: 'latency', latencyMs: 0, times: after });
        world.sandbox.faults.add(fault);
      }
      await world.push();
      return world.sandbox.faults.clear();
    case 'crash':
      await pushWith(op.at, () => {
        throw new Crash();
      });
      await world.forgetRequest();
      return;
    case 'stop': {
      const stop = new AbortController();
      return pushWith(op.at, () => stop.abort(), stop.signal);
    }
    case 'write meanwhile': {
      // Not waited for inside: where the push has the row locked, the ERP waits for the push.
      let writing: Promise<void> | null = null;
      await pushWith(op.at, () => {
        writing = write([op.row]);
      });
      return writing ?? undefined;
    }
    case 'push twice':
      await Promise.all([world.push(), world.push()]);
      return;
    case 'push under lock':
      await world.prisma
        .$transaction(async (tx) => {
          await writeProviders({ ...world.database, prisma: tx as typeof world.prisma }, [
            toRow(op.row),
          ]);
          await world.push();
          if (!op.commits) throw new Crash();
        })
        .catch(expectInterruption);
  }
}

interface Candidate {
  readonly externalId: string;
  readonly identificationNumber: string;
}

interface Row {
  readonly state: string;
  readonly candidate: Candidate;
}

const readRows = () => world.prisma.$queryRaw<Row[]>`
  SELECT sync_state AS state, jsonb_build_object(
    'externalId', external_id, 'type', type, 'identificationNumber', identification_number,
    'name', name, 'canAnticipate', can_anticipate, 'phones', phones,
    'emailAddresses', email_addresses, 'accounts', accounts) AS candidate
  FROM conciliation.provider`;

test('after any interleaving the platform has the last content of every valid row', async () => {
  await assertProperty(
    50,
    fc.asyncProperty(fc.array(operation, { minLength: 3, maxLength: 14 }), async (operations) => {
      await world.begin();
      forgotten.clear();
      await write(Array.from({ length: PROVIDERS }, (_, provider) => ({ ...FIRST, provider })));
      await writeProviders(world.database, [providerOf(TAKEN)]);
      await world.push();
      // From now on the number belongs to another buyer: the ERP has no such row any more.
      await world.prisma.provider.deleteMany({
        where: { externalId: providerOf(TAKEN).externalId },
      });
      for (const op of operations) await run(op);

      await world.pushAll();
      const registered = [...world.sandbox.providers.values()];
      const rows = await readRows();
      for (const { state, candidate } of rows) {
        const { externalId } = candidate;
        const number = parseTaxId(candidate.identificationNumber)?.digits;
        const isTaken = registered.some(
          (other) =>
            other.externalId !== externalId &&
            parseTaxId(other.identificationNumber)?.digits === number,
        );
        const check = checkProvider(candidate);
        if (!check.ok) {
          expect(state).toBe('invalid');
        } else if (isTaken) {
          // The platform has the number under another external id and refuses it, for good reason.
          expect(state).toBe('rejected');
        } else if (state !== 'rejected' || !forgotten.has(number ?? '')) {
          expect(state).toBe('synced');
          expect(world.sandbox.providers.get(externalId)).toEqual(check.provider);
        }
      }
    }),
  );
}, 0);
