import { beforeEach, describe, expect, test } from 'vitest';
import { type AuditRecord, recordAudit } from '../../../src/base/audit/audit.ts';
import {
  type ChainFault,
  type ChainLink,
  readChainHead,
  verifyAuditChain,
} from '../../../src/base/audit/audit-chain.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { DAY, worldOfEachTest } from '../../support/pull-world.ts';

const world = worldOfEachTest();

/** Writes an entry. The chain knows no action, so any text will do. */
const record = (
  client: Parameters<typeof recordAudit>[0],
  entry: Omit<AuditRecord, 'action'> & { readonly action: string },
) => recordAudit(client, entry as AuditRecord);

const verify = (anchor: ChainLink | null = null) => verifyAuditChain(world.database, anchor);

/** Five entries, every kind of value among them. */
async function fill(): Promise<void> {
  const entries = [
    { actor: 'ana', action: 'first' },
    { actor: 'ana', action: 'day.sign_off', date: DAY, pullId: 7n, reason: 'checked' },
    { actor: 'joão', action: 'key.add', details: { b: [1.5, 'ção', null], a: { c: '\n' } } },
    { actor: '2:x\n-', action: '', reason: '' },
    { actor: 'service', action: 'last', date: DAY },
  ];
  for (const entry of entries) await record(world.prisma, entry);
}

/** As a user with the rights of the owner, without triggers. */
async function tamper(...statements: string[]): Promise<void> {
  const all = ['SET LOCAL session_replication_role = replica', ...statements];
  await world.database.pool.query(all.join(';'));
}

async function expectFault(kind: ChainFault, entryId: number | null, anchor?: ChainLink) {
  const { fault } = await verify(anchor);
  expect(fault).toMatchObject({ kind, entryId });
}

test('an empty log is whole, and has no head', async () => {
  expect(await verify()).toEqual({ links: 0, head: null, fault: null });
  expect(await readChainHead(world.database)).toBeNull();
});

test('entries of every kind of value are chained, and each later head proves the earlier ones', async () => {
  const heads: ChainLink[] = [];
  for (let round = 0; round < 3; round += 1) {
    await fill();
    const head = await readChainHead(world.database);
    if (head !== null) heads.push(head);
  }
  expect(heads.map(({ position }) => position)).toEqual([5, 10, 15]);
  expect(await verify()).toEqual({ links: 15, head: heads[2], fault: null });
  for (const head of heads) expect((await verify(head)).fault).toBeNull();
});

test('an action that is rolled back leaves neither entry nor link', async () => {
  await fill();
  await world.prisma
    .$transaction(async (tx) => {
      await record(tx, { actor: 'ana', action: 'undone' });
      throw new Error('rolled back');
    })
    .catch(() => {});
  await record(world.prisma, { actor: 'ana', action: 'done' });
  expect(await verify()).toMatchObject({ links: 6, fault: null });
});

test('entries of one transaction are chained in their order', async () => {
  await world.prisma.$transaction(async (tx) => {
    for (const action of ['a', 'b', 'c']) await record(tx, { actor: 'ana', action });
  });
  const rows = await world.prisma.$queryRaw<{ action: string }[]>`
    SELECT action FROM conciliation.audit_chain JOIN conciliation.audit_entry ON id = entry_id
    ORDER BY position`;
  expect(rows.map(({ action }) => action)).toEqual(['a', 'b', 'c']);
});

test('twenty writers at once make one chain without a fork', async () => {
  await Promise.all(
    Array.from({ length: 20 }, (_, writer) =>
      world.prisma.$transaction(
        async (tx) => {
          for (let entry = 0; entry < 5; entry += 1) {
            await record(tx, { actor: `writer ${writer}`, action: String(entry) });
          }
        },
        { maxWait: 60_000, timeout: 60_000 },
      ),
    ),
  );
  expect(await verify()).toMatchObject({ links: 100, fault: null });
});

test('an open transaction with an entry does not make others wait', async () => {
  await world.prisma.$transaction(async (tx) => {
    await record(tx, { actor: 'slow', action: 'first' });
    await record(world.prisma, { actor: 'fast', action: 'second' });
  });
  expect(await verify()).toMatchObject({ links: 2, fault: null });
});

describe('tampering shows', () => {
  beforeEach(fill);

  test.each([
    ['at', `at + interval '1 microsecond'`],
    ['actor', `'bob'`],
    ['action', `'other'`],
    ['date', `date '2026-01-01'`],
    ['date', 'NULL'],
    ['pull_id', '8'],
    ['pull_id', 'NULL'],
    ['reason', `''`],
    ['reason', 'NULL'],
    ['details', `'{}'`],
  ])('when %s becomes %s', async (column, value) => {
    await tamper(`UPDATE conciliation.audit_entry SET ${column} = ${value} WHERE id = 2`);
    await expectFault('changed', 2);
    expect(await verify()).toMatchObject({ links: 1, fault: { position: 2 } });
  });

  const DELETE = [
    'DELETE FROM conciliation.audit_entry WHERE id = 3',
    'DELETE FROM conciliation.audit_chain WHERE entry_id = 3',
  ];
  const MOVE = (table: string, column: string) =>
    [
      [2, 99],
      [3, 2],
      [99, 3],
    ].map(
      ([from, to]) =>
        `UPDATE conciliation.${table} SET ${column} = ${to} WHERE ${column} = ${from}`,
    );
  const INSERT = `INSERT INTO conciliation.audit_entry (id, actor, action) VALUES (77, 'ana', 'never')`;
  test.each<[string, ChainFault, number, string[]]>([
    [
      'one entry’s value moves into its neighbouring column',
      'changed',
      4,
      [`UPDATE conciliation.audit_entry SET actor = '', action = 'last' WHERE id = 4`],
    ],
    ['an entry in the middle is deleted', 'deleted', 3, DELETE.slice(0, 1)],
    ['an entry in the middle is deleted with its link', 'broken_link', 4, DELETE],
    [
      'the links after a deleted entry are moved up',
      'broken_link',
      4,
      [
        ...DELETE,
        'UPDATE conciliation.audit_chain SET position = position - 1 WHERE position = 4',
        'UPDATE conciliation.audit_chain SET position = position - 1 WHERE position = 5',
      ],
    ],
    ['an entry is put in', 'unlinked', 77, [INSERT]],
    [
      'an entry is inserted with its own link',
      'broken_link',
      77,
      [
        INSERT,
        `INSERT INTO conciliation.audit_chain VALUES (6, 77, repeat('1', 64), repeat('2', 64))`,
      ],
    ],
    ['two entries change places', 'changed', 2, MOVE('audit_entry', 'id')],
    ['two links change places', 'broken_link', 3, MOVE('audit_chain', 'position')],
  ])('when %s', async (_, kind, entryId, statements) => {
    await tamper(...statements);
    await expectFault(kind, entryId);
  });

  test('when the newest entries are deleted with their links, by the head that was kept elsewhere', async () => {
    const anchor = (await verify()).head ?? undefined;
    await tamper(
      'DELETE FROM conciliation.audit_entry WHERE id >= 4',
      'DELETE FROM conciliation.audit_chain WHERE entry_id >= 4',
    );
    expect((await verify()).fault).toBeNull();
    await expectFault('anchor_missing', null, anchor);
    // Also once others have taken their place.
    await fill();
    expect((await verify()).fault).toBeNull();
    await expectFault('anchor_changed', 7, anchor);
  });

  test('when the whole chain is recomputed, by the head that was kept elsewhere', async () => {
    const anchor = (await verify()).head ?? undefined;
    await tamper(
      `UPDATE conciliation.audit_entry SET reason = 'never said' WHERE id = 2`,
      `DO $$
       DECLARE entry conciliation.audit_entry; place bigint := 0; head text := repeat('0', 64);
       BEGIN
         DELETE FROM conciliation.audit_chain;
         FOR entry IN SELECT * FROM conciliation.audit_entry ORDER BY id LOOP
           place := place + 1;
           INSERT INTO conciliation.audit_chain
           VALUES (place, entry.id, head, conciliation.audit_entry_hash(place, head, entry))
           RETURNING hash INTO head;
         END LOOP;
       END $$`,
    );
    expect((await verify()).fault).toBeNull();
    await expectFault('anchor_changed', 5, anchor);
  });
});

test('links and entries cannot be changed and have no second successor, for any user', async () => {
  await fill();
  const { pool } = world.database;
  for (const statement of [
    'UPDATE conciliation.audit_chain SET hash = hash',
    'DELETE FROM conciliation.audit_chain',
    'TRUNCATE conciliation.audit_chain',
  ]) {
    await expect(pool.query(statement)).rejects.toMatchObject({ code: '23001' });
  }
  await expect(
    pool.query(`
      INSERT INTO conciliation.audit_chain
      SELECT 6, 99, previous_hash, repeat('2', 64) FROM conciliation.audit_chain WHERE position = 5`),
  ).rejects.toMatchObject({ code: '23505' });
});

test('verify --audit prints the head, takes it as an anchor, and ends with 1 at the first broken entry', async () => {
  await fill();
  const environment = environmentOf(world);
  const whole = await runCommand(['verify', '--audit', '--json'], environment);
  expect(whole).toMatchObject({ exit: 0, stderr: '' });
  const { links, head } = JSON.parse(whole.stdout) as { links: number; head: ChainLink };
  expect(links).toBe(5);
  const anchor = `${head.position}:${head.hash}`;
  const anchored = await runCommand(['verify', '--audit', '--anchor', anchor], environment);
  expect(anchored.exit).toBe(0);
  expect(anchored.stdout).toContain(anchor);

  await tamper(`UPDATE conciliation.audit_entry SET actor = 'bob' WHERE id >= 3`);
  const broken = await runCommand(['verify', '--audit'], environment);
  expect(broken).toMatchObject({
    exit: 1,
    stdout: 'Broken after 2 link(s): entry 3 was changed after it was written.\n',
  });
  const json = await runCommand(['verify', '--audit', '--json'], environment);
  expect(json.exit).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ fault: { kind: 'changed', entryId: 3 } });

  const wrong = await runCommand(['verify', '--audit', '--anchor', 'latest'], environment);
  expect(wrong.exit).toBe(2);
});
